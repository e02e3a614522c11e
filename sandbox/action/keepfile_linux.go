package action

import (
	"fmt"
	"os"

	sys "golang.org/x/sys/unix"
)

// leaveMost bounds what a shell can write for us to read: what it says of itself twice, and what it leaves.
const leaveMost = 16 << 20

// keepFiles are the file a shell begins with and the one for what it leaves. Both are in memory, have no name anywhere
// and go with the last who holds them.
func keepFiles(begin []byte) (start, leave *os.File, err error) {
	if start, err = memory("begin"); err != nil {
		return nil, nil, err
	}
	if _, err = start.Write(begin); err == nil {
		leave, err = memory("leave")
	}
	if err == nil {
		err = sys.Ftruncate(int(leave.Fd()), leaveMost)
	}
	if err == nil {
		_, err = sys.FcntlInt(leave.Fd(), sys.F_ADD_SEALS, sys.F_SEAL_GROW|sys.F_SEAL_SHRINK|sys.F_SEAL_SEAL)
	}
	if err != nil {
		start.Close()
		if leave != nil {
			leave.Close()
		}
		return nil, nil, err
	}
	return start, leave, nil
}

func memory(name string) (*os.File, error) {
	fd, err := sys.MemfdCreate(name, sys.MFD_CLOEXEC|sys.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
