package probes

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests of i915_drm.h and xe_drm.h: read and write, 'd', and the size of the structure.
const (
	i915Query   = 3<<30 | 16<<16 | 'd'<<8 | 0x79
	xeQuery     = 3<<30 | 40<<16 | 'd'<<8 | 0x40
	i915Regions = 4
	xeRegions   = 1
)

// askRegions asks the driver behind a render file for the memory on the card.
func askRegions(file string) (total, free int64, ok bool) {
	f, err := os.OpenFile(file, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, false
	}
	defer f.Close()
	if answer := askXe(f.Fd()); answer != nil {
		total, free = parseXe(answer)
		return total, free, true
	}
	if answer := askI915(f.Fd()); answer != nil {
		total, free = parseI915(answer)
		return total, free, true
	}
	return 0, 0, false
}

// Both drivers are asked twice: for the length of the answer, then for the answer.
const longest = 1 << 16

func askXe(fd uintptr) []byte {
	query := struct {
		extensions  uint64
		query, size uint32
		data        uint64
		reserved    [2]uint64
	}{query: xeRegions}
	if !ioctl(fd, xeQuery, unsafe.Pointer(&query)) || query.size == 0 || query.size > longest {
		return nil
	}
	answer := make([]byte, query.size)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&answer[0])
	query.data = uint64(uintptr(unsafe.Pointer(&answer[0])))
	if !ioctl(fd, xeQuery, unsafe.Pointer(&query)) {
		return nil
	}
	return answer
}

func askI915(fd uintptr) []byte {
	type item struct {
		id     uint64
		length int32
		flags  uint32
		data   uint64
	}
	one := &item{id: i915Regions}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(one)
	query := struct {
		items, flags uint32
		at           uint64
	}{items: 1, at: uint64(uintptr(unsafe.Pointer(one)))}
	if !ioctl(fd, i915Query, unsafe.Pointer(&query)) || one.length <= 0 || one.length > longest {
		return nil
	}
	answer := make([]byte, one.length)
	pin.Pin(&answer[0])
	one.data = uint64(uintptr(unsafe.Pointer(&answer[0])))
	if !ioctl(fd, i915Query, unsafe.Pointer(&query)) || one.length <= 0 {
		return nil
	}
	return answer
}

func ioctl(fd, request uintptr, arg unsafe.Pointer) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg))
	return errno == 0
}
