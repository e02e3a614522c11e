package helper

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrMoved is the refusal to write into a folder that is not the one that was allowed.
var ErrMoved = errors.New("workspace path changed on disk")

// piece is a detached copy of a part of the tree, to be put in place when everything else has become read-only.
type piece struct {
	target string
	fd     int
	attrs  uint64
	rank   int // among equal depths
}

// Ranks of pieces at one depth: what covers a folder comes before what is shown in it.
const (
	rankLayer = iota
	rankWritable
	rankReadOnly
	rankEntry
	rankHidden
)

// furnish turns the copied tree of a new mount namespace into the one the command sees.
func furnish(plan *Plan) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return step("mount / private", err)
	}
	devices, err := takeDevices()
	if err != nil {
		return err
	}
	pieces, err := takePieces(plan)
	if err != nil {
		return err
	}
	layers, err := takeLayers(plan)
	if err != nil {
		return err
	}
	pieces = append(pieces, layers...)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if plan.WholeDisk {
		attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr); err != nil {
		return step("mount_setattr / read-only", err)
	}
	if plan.WholeDisk {
		// What is there is the kernel's and on no disk. User id 0 could write it by its owner's rights alone.
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
		if err := unix.MountSetattr(unix.AT_FDCWD, "/sys", unix.AT_RECURSIVE, &attr); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) {
			return step("mount_setattr /sys read-only", err)
		}
	}
	if err := proc(plan); err != nil {
		return err
	}
	if err := dev(devices); err != nil {
		return err
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(depth(a.target), depth(b.target)), cmp.Compare(a.rank, b.rank))
	})
	for _, p := range pieces {
		if err := p.put(); err != nil {
			return err
		}
	}
	if err := hide(plan.Hidden); err != nil {
		return err
	}
	if !plan.Network {
		return loopback()
	}
	return nil
}

func depth(path string) int { return strings.Count(path, "/") }

// take makes a detached copy of a path, which must not hold a symbolic link.
func take(path string, recursive bool) (int, error) {
	at, err := openat(path)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(at, "", flags)
	if err != nil {
		return -1, step("open_tree "+path, err)
	}
	return fd, nil
}

func openat(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, step("openat2 "+path, err)
	}
	return fd, nil
}

func takePieces(plan *Plan) ([]piece, error) {
	var pieces []piece
	for _, w := range plan.Writable {
		if w.Path == "/" {
			continue
		}
		fd, err := take(w.Path, true)
		if err != nil {
			if !w.Needed && errors.Is(err, unix.ENOENT) {
				continue
			}
			if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
				return nil, step("open "+w.Path, ErrMoved)
			}
			return nil, err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, step("fstat "+w.Path, err)
		}
		if w.Ino != 0 && (st.Ino != w.Ino || uint64(st.Dev) != w.Dev) {
			return nil, step("open "+w.Path, ErrMoved)
		}
		pieces = append(pieces, piece{w.Path, fd, unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, rankWritable})
	}
	for _, path := range plan.Shown {
		fd, err := take(path, true)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{path, fd, unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID, rankWritable})
	}
	for _, path := range plan.ReadOnly {
		fd, err := take(path, true)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{path, fd, unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, rankReadOnly})
	}
	return pieces, nil
}

func (p piece) put() error {
	if err := unix.MountSetattr(p.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: p.attrs}); err != nil {
		return step("mount_setattr "+p.target, err)
	}
	at, err := openat(p.target)
	if errors.Is(err, unix.ENOENT) && p.rank <= rankWritable {
		// Below a layer that starts empty the folder is made anew.
		if os.MkdirAll(p.target, 0o755) == nil {
			at, err = openat(p.target)
		}
	}
	if err != nil {
		return err
	}
	err = unix.MoveMount(p.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	unix.Close(at)
	unix.Close(p.fd)
	return step("move_mount to "+p.target, err)
}

// scratch is where memory for layers is mounted while they are made; the new /dev covers it later.
const scratch = "/dev"

// takeLayers makes an overlay for each layer and takes it off again as a detached copy, while its parts can still be
// written. Where overlays cannot be had the folder that keeps the writings stands in, empty at first.
func takeLayers(plan *Plan) ([]piece, error) {
	if len(plan.Layers) == 0 {
		return nil, nil
	}
	options := "mode=0700,size=" + strconv.FormatInt(plan.Scratch, 10)
	if err := unix.Mount("tmpfs", scratch, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return nil, step("mount tmpfs", err)
	}
	var pieces []piece
	for i, l := range plan.Layers {
		mode := uint32(0o700)
		if l.Upper == "" {
			base := scratch + "/" + strconv.Itoa(i)
			l.Upper, l.Work = base+"/upper", base+"/work"
			if err := os.MkdirAll(l.Work, 0o700); err != nil {
				return nil, step("mkdir", err)
			}
			if err := os.Mkdir(l.Upper, 0o700); err != nil {
				return nil, step("mkdir", err)
			}
			var st unix.Stat_t
			if unix.Stat(l.Target, &st) == nil {
				mode = st.Mode & 0o1777
			}
			if err := unix.Chmod(l.Upper, mode); err != nil {
				return nil, step("chmod", err)
			}
		}
		fd, err := overlay(l)
		if len(l.Entries) > 0 {
			opened, err := entries(l, fd, err)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, opened...)
			continue
		}
		if err != nil {
			if fd, err = take(l.Upper, false); err != nil {
				return nil, err
			}
		}
		pieces = append(pieces, piece{l.Target, fd, unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, rankLayer})
	}
	return pieces, step("umount "+scratch, unix.Unmount(scratch, unix.MNT_DETACH))
}

// entries are the pieces for a layer over a closed folder: the layer, or where it cannot be had the files themselves,
// which can then be written in place and not replaced.
func entries(l Layer, fd int, failed error) ([]piece, error) {
	const attrs = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if failed == nil {
		return []piece{{l.Target, fd, attrs, rankEntry}}, nil
	}
	var pieces []piece
	for _, name := range l.Entries {
		path := filepath.Join(l.Target, name)
		if !isFile(path) {
			return nil, failed
		}
		fd, err := take(path, false)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{path, fd, attrs, rankEntry})
	}
	return pieces, nil
}

func isFile(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// escaped writes a path as an overlay option: the characters that separate options and folders get a backslash.
var escaped = strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`)

// overlay mounts a layer, takes it as a detached copy and unmounts it again. All its paths are real.
func overlay(l Layer) (int, error) {
	lower := escaped.Replace(l.Target)
	if l.Below != "" {
		lower = escaped.Replace(l.Below) + ":" + lower
	}
	options := "userxattr,index=off,xino=off,lowerdir=" + lower + ",upperdir=" + escaped.Replace(l.Upper) + ",workdir=" + escaped.Replace(l.Work)
	if err := unix.Mount("overlay", l.Target, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return -1, step("mount overlay on "+l.Target, err)
	}
	fd, err := take(l.Target, false)
	if e := unix.Unmount(l.Target, unix.MNT_DETACH); err == nil && e != nil {
		err = step("umount "+l.Target, e)
	}
	return fd, err
}

// proc mounts the processes of the new namespace, without what of the kernel a user id of 0 could write to.
func proc(plan *Plan) error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return step("mount proc", err)
	}
	if !plan.AllowNested {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return step("write user.max_user_namespaces", err)
		}
	}
	for _, path := range []string{"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger"} {
		fd, err := take(path, true)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return err
		}
		if err := (piece{path, fd, unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, rankReadOnly}).put(); err != nil {
			return err
		}
	}
	return nil
}

var deviceNames = []string{"null", "zero", "full", "random", "urandom", "tty"}

func takeDevices() ([]int, error) {
	var fds []int
	for _, name := range deviceNames {
		fd, err := take("/dev/"+name, false)
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// dev makes a small /dev of its own: nothing of the machine's devices but the harmless ones, terminals and shared
// memory of the command's own.
func dev(devices []int) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return step("mount tmpfs on /dev", err)
	}
	for i, name := range deviceNames {
		path := "/dev/" + name
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
		if err != nil {
			return step("create "+path, err)
		}
		unix.Close(fd)
		if err := unix.MoveMount(devices[i], "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return step("move_mount to "+path, err)
		}
		unix.Close(devices[i])
	}
	for _, link := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}} {
		if err := unix.Symlink(link[0], "/dev/"+link[1]); err != nil {
			return step("symlink /dev/"+link[1], err)
		}
	}
	for _, name := range []string{"/dev/pts", "/dev/shm"} {
		if err := unix.Mkdir(name, 0o755); err != nil {
			return step("mkdir "+name, err)
		}
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return step("mount devpts", err)
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=1g"); err != nil {
		return step("mount tmpfs on /dev/shm", err)
	}
	return step("mount_setattr /dev", unix.MountSetattr(unix.AT_FDCWD, "/dev", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}))
}

// hide puts the null device over files. It is taken anew for each: a copy can be put in one place only.
func hide(paths []string) error {
	for _, path := range paths {
		at, err := openat(path)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
			continue
		}
		if errors.Is(err, unix.ELOOP) {
			// The link's target is in the list too.
			continue
		}
		if err != nil {
			return err
		}
		unix.Close(at)
		fd, err := take("/dev/null", false)
		if err != nil {
			return err
		}
		if err := (piece{filepath.Clean(path), fd, unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, rankHidden}).put(); err != nil {
			return err
		}
	}
	return nil
}
