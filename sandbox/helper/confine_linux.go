package helper

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confine draws the walls around this thread, in the order in which each step still has the rights it needs.
func confine(plan *Plan) error {
	if plan.Kind != Landlock {
		if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
			return step("close_range", err)
		}
	}
	if err := limits(plan); err != nil {
		return err
	}
	if plan.Kind == Namespaces {
		if err := furnish(plan); err != nil {
			return err
		}
	}
	if err := unix.Chdir(plan.Dir); err != nil {
		return step("enter "+plan.Dir, err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return step("prctl(PR_SET_NO_NEW_PRIVS)", err)
	}
	if err := landlock(plan); err != nil {
		return err
	}
	return filter(plan)
}

func limits(plan *Plan) error {
	zero := unix.Rlimit{}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &zero); err != nil {
		return step("setrlimit(RLIMIT_CORE)", err)
	}
	if plan.Processes > 0 {
		var now unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
			return step("getrlimit(RLIMIT_NPROC)", err)
		}
		most := min(plan.Processes, now.Max)
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return step("setrlimit(RLIMIT_NPROC)", err)
		}
	}
	return step("prctl(PR_SET_DUMPABLE)", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}

// secureBits are NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE with their locks, and the lock of KEEP_CAPS: user
// id 0 means nothing from here on.
const secureBits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7

// dropCapabilities leaves nothing in any set, the bounding set included: otherwise user id 0 would get all of it back
// with the next exec.
func dropCapabilities() error {
	var header unix.CapUserHeader
	header.Version = unix.LINUX_CAPABILITY_VERSION_3
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return step("capget", err)
	}
	if sets[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		for c := uintptr(0); c < 64; c++ {
			err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
			if errors.Is(err, unix.EINVAL) {
				break
			}
			if err != nil {
				return step("prctl(PR_CAPBSET_DROP)", err)
			}
		}
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
			return step("prctl(PR_SET_SECUREBITS)", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return step("prctl(PR_CAP_AMBIENT)", err)
	}
	header = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	sets = [2]unix.CapUserData{}
	return step("capset", unix.Capset(&header, &sets[0]))
}

// loopback switches on lo, which a new network namespace has but leaves off.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return step("socket for lo", err)
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return step("lo", err)
	}
	req.SetUint16(unix.IFF_UP)
	return step("ioctl(SIOCSIFFLAGS) on lo", unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req))
}

// Access rights to files by the version of Landlock that knows them.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	deviceRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// handledRights are all the rights that a kernel with this version of Landlock can withhold.
func handledRights(abi int) uint64 {
	rights := uint64(1<<13 - 1)
	for _, more := range []struct {
		abi   int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{9, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX}} {
		if abi >= more.abi {
			rights |= more.right
		}
	}
	return rights
}

// LandlockVersion is what the kernel offers, 0 when it has no Landlock.
func LandlockVersion() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// landlock adds a second wall behind the mounts, and is the first where there are none. Without mounts it must know
// truncation; with them any version adds to what already holds.
func landlock(plan *Plan) error {
	abi := LandlockVersion()
	if abi < 3 && plan.Kind == Landlock {
		return step("landlock_create_ruleset", errors.New("the kernel has Landlock version "+string(rune('0'+abi))+" and 3 is needed"))
	}
	if abi == 0 {
		return nil
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handledRights(abi)}
	if abi >= 4 && !plan.Network && plan.Kind == Landlock {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		if abi >= 10 {
			attr.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
		}
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return step("landlock_create_ruleset", errno)
	}
	rules := ruleset{int(fd), attr.Handled_access_fs}
	defer unix.Close(rules.fd)
	if err := rules.fill(plan); err != nil {
		return err
	}
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	if errno != 0 {
		return step("landlock_restrict_self", errno)
	}
	return nil
}

type ruleset struct {
	fd      int
	handled uint64
}

func (r ruleset) fill(plan *Plan) error {
	whole := uint64(readRights)
	if plan.WholeDisk {
		whole |= writeRights
	}
	if err := r.grant("/", whole, true); err != nil {
		return err
	}
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"} {
		if err := r.grant(dev, deviceRights, false); err != nil {
			return err
		}
	}
	// Without mounts of our own these hold other people's terminals and memory.
	if plan.Kind != Landlock {
		for _, place := range []string{"/dev/pts", "/dev/ptmx"} {
			if err := r.grant(place, deviceRights|unix.LANDLOCK_ACCESS_FS_READ_DIR, false); err != nil {
				return err
			}
		}
		if err := r.grant("/dev/shm", readRights|writeRights, false); err != nil {
			return err
		}
	}
	for _, w := range plan.Writable {
		if err := r.grant(w.Path, readRights|writeRights, w.Needed); err != nil {
			return err
		}
	}
	for _, l := range plan.Layers {
		if err := r.grant(l.Target, readRights|writeRights, false); err != nil {
			return err
		}
	}
	return nil
}

func (r ruleset) grant(path string, rights uint64, needed bool) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if needed {
			return step("open "+path, err)
		}
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return step("fstat "+path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return step("landlock_add_rule for "+path, errno)
	}
	return nil
}
