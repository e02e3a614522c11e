package sandbox

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to do: who may use a file is inherited from its folder.
func keepOwner(*os.File, fs.FileInfo) {}
