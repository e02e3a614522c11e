//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file that takes another's place the owner and the group of that one, as far as this user may: what
// root edits stays its owner's.
func keepOwner(f *os.File, was fs.FileInfo) {
	then, ok := was.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if !ok || err != nil {
		return
	}
	now, ok := info.Sys().(*syscall.Stat_t)
	if !ok || now.Uid == then.Uid && now.Gid == then.Gid {
		return
	}
	if f.Chown(int(then.Uid), int(then.Gid)) != nil {
		_ = f.Chown(-1, int(then.Gid))
	}
}
