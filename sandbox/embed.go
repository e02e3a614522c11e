package sandbox

import (
	"embed"
	"runtime"
)

// built holds the confining program for the machine this was built for, when make build has put it there.
//
//go:embed helper/embed
var built embed.FS

func embedded() []byte {
	data, err := built.ReadFile("helper/embed/helper-" + runtime.GOOS + "-" + runtime.GOARCH)
	if err != nil {
		return nil
	}
	return data
}
