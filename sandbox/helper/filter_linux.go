package helper

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// program is a classic BPF program being written. Jumps only go forward over what is written with them, so each rule
// stands alone and falls through to the next.
type program []unix.SockFilter

func (p *program) add(code uint16, jt, jf uint8, k uint32) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }
func (p *program) ret(action uint32)  { p.add(unix.BPF_RET|unix.BPF_K, 0, 0, action) }

// low and high are the offsets of the halves of an argument on the little-endian machines we run on.
func low(arg uint32) uint32  { return offArgs + 8*arg }
func high(arg uint32) uint32 { return offArgs + 8*arg + 4 }

const (
	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	gone  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	kill  = unix.SECCOMP_RET_KILL_PROCESS
)

// call adds a rule for one system call: what body returns holds, and body must end in a return on every way.
func (p *program) call(number uintptr, body func(*program)) {
	var inner program
	body(&inner)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, uint8(len(inner)), uint32(number))
	*p = append(*p, inner...)
}

func (p *program) deny(action uint32, numbers ...uintptr) {
	for _, n := range numbers {
		p.call(n, func(b *program) { b.ret(action) })
	}
}

// unless returns an action if the loaded word equals k.
func (p *program) if32(k, action uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, k)
	p.ret(action)
}

func (p *program) ifBits(bits, action uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, bits)
	p.ret(action)
}

// namespaceFlags are the CLONE_NEW* bits of clone.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// build writes the filter. Everything is allowed but what is listed: a list of what may be called would break with
// every new C library.
func build(plan *Plan) program {
	var p program
	p.load(offArch)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, nativeArch)
	p.ret(kill)
	p.load(offNumber)
	if foreignNumbers != 0 {
		p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, foreignNumbers)
		p.ret(gone)
	}
	p.deny(deny, deniedCalls...)
	if !plan.AllowTrace {
		p.deny(deny, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV)
	}
	if !plan.AllowNested {
		p.deny(deny, unix.SYS_UNSHARE, unix.SYS_SETNS)
		p.call(unix.SYS_CLONE, func(b *program) {
			b.load(low(0))
			b.ifBits(namespaceFlags, deny)
			b.ret(allow)
		})
		if plan.Kind != Namespaces {
			p.deny(gone, unix.SYS_CLONE3)
		}
	}
	p.call(unix.SYS_KILL, func(b *program) {
		b.load(low(0))
		b.if32(^uint32(0), deny)
		b.ret(allow)
	})
	p.call(unix.SYS_IOCTL, func(b *program) {
		b.load(low(1))
		b.if32(unix.TIOCSTI, deny)
		b.if32(unix.TIOCLINUX, deny)
		b.if32(unix.TIOCSETD, deny)
		b.ret(allow)
	})
	p.call(unix.SYS_SOCKET, func(b *program) { sockets(b, plan) })
	p.call(unix.SYS_SOCKETPAIR, func(b *program) {
		b.load(low(0))
		b.if32(unix.AF_UNIX, allow)
		b.ret(deny)
	})
	if plan.Kind == Landlock {
		unmounted(&p, plan)
	}
	p.ret(allow)
	return p
}

// sockets allows the families of ordinary networking, and unix sockets where the network is on and other processes'
// are hidden.
func sockets(b *program, plan *Plan) {
	// A raw or packet type, or netlink other than for routes, is refused in any family.
	b.load(low(1))
	b.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, 0xf)
	b.if32(unix.SOCK_PACKET, deny)
	b.load(low(0))
	if plan.Network || plan.Kind != Landlock {
		b.if32(unix.AF_INET, allow)
		b.if32(unix.AF_INET6, allow)
	}
	if plan.Network {
		b.if32(unix.AF_UNIX, allow)
	}
	b.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.AF_NETLINK)
	b.ret(deny)
	b.load(low(2))
	b.if32(unix.NETLINK_ROUTE, allow)
	b.ret(deny)
}

// unmounted adds what only namespaces and read-only mounts can do better.
func unmounted(p *program, plan *Plan) {
	other := func(arg uint32) func(*program) {
		return func(b *program) {
			b.load(low(arg))
			b.if32(0, allow)
			b.ret(deny)
		}
	}
	p.call(unix.SYS_PRLIMIT64, other(0))
	p.call(unix.SYS_SETPRIORITY, other(1))
	p.call(unix.SYS_IOPRIO_SET, other(1))
	for _, n := range []uintptr{unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETAFFINITY} {
		p.call(n, other(0))
	}
	p.deny(deny, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
		unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN)
	if plan.Unmodified {
		p.deny(deny, metadataCalls...)
	}
}

// filter puts the program into force for this thread and what it starts.
func filter(plan *Plan) error {
	p := build(plan)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return step("seccomp", errno)
	}
	return nil
}

// deniedCalls are refused in every plan: they reach other processes, the kernel's inside, or the mounts.
var deniedCalls = append([]uintptr{
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}, machineCalls...)
