package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// errPlace is the refusal to change the access list of something else than was meant.
var errPlace = errors.New("workspace path changed on disk")

// editACL brings the entries of ours at a place to what is wanted, and writes nothing when they are so. It follows no
// junction and no link: what the path means must be what it says. Entries that are inherited go down to all below.
func editACL(path string, mine func(sid) bool, want []ace) error {
	h, err := openPlace(path, windows.READ_CONTROL|windows.WRITE_DAC|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return &fs.PathError{Op: "open the access list of", Path: path, Err: err}
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return &fs.PathError{Op: "look at", Path: path, Err: err}
	}
	passes := slices.ContainsFunc(want, func(e ace) bool { return e.flags&allBelow != 0 })
	if name, err := finalName(h); err != nil || !same(name, path) || passes && info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		return &fs.PathError{Op: "change the access list of", Path: path, Err: errPlace}
	}
	return editHandle(h, windows.SE_FILE_OBJECT, mine, want)
}

func editHandle(h windows.Handle, kind windows.SE_OBJECT_TYPE, mine func(sid) bool, want []ace) error {
	have, err := aclOf(h, kind)
	if err != nil {
		return err
	}
	merged, changed := mergeACL(have, mine, want)
	if !changed {
		return nil
	}
	list, err := buildACL(merged)
	if err != nil {
		return err
	}
	return windows.SetSecurityInfo(h, kind, windows.DACL_SECURITY_INFORMATION, nil, nil, (*windows.ACL)(unsafe.Pointer(&list[0])), nil)
}

// aclOf reads the access list of an open object. An object without one is open to everybody.
func aclOf(h windows.Handle, kind windows.SE_OBJECT_TYPE) ([]ace, error) {
	sd, err := windows.GetSecurityInfo(h, kind, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, fmt.Errorf("read an access list: %w", err)
	}
	dacl, _, err := sd.DACL()
	if errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) || err == nil && dacl == nil {
		return []ace{{kind: allowedType, flags: allBelow, mask: allRights, who: everyoneSID}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read an access list: %w", err)
	}
	head := unsafe.Slice((*byte)(unsafe.Pointer(dacl)), 8)
	return parseACL(unsafe.Slice((*byte)(unsafe.Pointer(dacl)), int(binary.LittleEndian.Uint16(head[2:]))))
}

func openPlace(path string, access uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(verbatim(path))
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
}

// finalName is the name of an open file with every link, short form and substituted drive resolved.
func finalName(h windows.Handle) (string, error) {
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return unverbatim(windows.UTF16ToString(buf[:n])), nil
		}
		buf = make([]uint16, n+1)
	}
}

// realSpelling is a path by the long names that the disk has for it. What does not exist keeps the names it was given.
func realSpelling(path string) (string, error) {
	if !hasShortName(path) {
		return path, nil
	}
	head, rest := existing(path, func(p string) bool { _, err := os.Lstat(p); return err == nil })
	name, err := windows.UTF16PtrFromString(head)
	if err != nil {
		return "", err
	}
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetLongPathName(name, &buf[0], uint32(len(buf)))
		if err != nil {
			return "", &fs.PathError{Op: "find the long name of", Path: path, Err: err}
		}
		if int(n) < len(buf) {
			return filepath.Join(windows.UTF16ToString(buf[:n]), rest), nil
		}
		buf = make([]uint16, n+1)
	}
}

// keepsACLs reports whether the volume of a folder has access lists. One that has none is open to every command.
func keepsACLs(path string) (bool, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false, err
	}
	volume := make([]uint16, len(path)+windows.MAX_PATH)
	if err := windows.GetVolumePathName(name, &volume[0], uint32(len(volume))); err != nil {
		return false, fmt.Errorf("find the volume of %s: %w", path, err)
	}
	var flags uint32
	if err := windows.GetVolumeInformation(&volume[0], nil, 0, nil, nil, &flags, nil, 0); err != nil {
		return false, fmt.Errorf("look at the volume of %s: %w", path, err)
	}
	return flags&windows.FILE_PERSISTENT_ACLS != 0, nil
}

// lockAccess keeps other sessions from changing the record at the same time. It waits for them.
func lockAccess(home string) (func(), error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", accessName(home), plain(err))
	}
	const wait, tries = 20 * time.Millisecond, 500
	for range tries {
		if f, ok := lockFile(accessName(home)+".lock", true); ok {
			return func() { f.Close() }, nil
		}
		time.Sleep(wait)
	}
	return nil, fmt.Errorf("lock %s: another session holds it", accessName(home))
}

// openNUL lets the bearers of a name write to the device NUL, which every shell and run-time does to be silent. An
// ordinary user may not change that device's list; then the name for programs under restriction, if the list has it,
// does as well. It returns what names a command needs.
func openNUL(device sid) []sid {
	name, _ := windows.UTF16PtrFromString(`\\.\NUL`)
	h, err := windows.CreateFile(name, windows.READ_CONTROL|windows.WRITE_DAC, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err == nil {
		defer windows.CloseHandle(h)
		err = editHandle(h, windows.SE_KERNEL_OBJECT, func(s sid) bool { return s == device }, []ace{{kind: allowedType, mask: readAndRun | writeFile, who: device}})
		if err == nil {
			return []sid{device}
		}
	}
	h, err = windows.CreateFile(name, windows.READ_CONTROL, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h)
	if list, err := aclOf(h, windows.SE_KERNEL_OBJECT); err == nil && lets(list, restrictedSID, writeData) {
		return []sid{restrictedSID}
	}
	return nil
}
