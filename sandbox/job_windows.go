package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// launching is all that a start needs. It calls CreateProcess itself: os.StartProcess gives no handle of the thread,
// by which a suspended process is resumed, names no desktop and knows no pseudo consoles.
type launching struct {
	path, line, dir string
	env             []uint16
	files           []*os.File
	token           windows.Token // 0 is the agent's own
	desktop         string        // "" is the agent's own
	terminal        *windows.Coord
	shared          bool // it writes to the agent's own console
	limits          jobLimits
}

// job is a process and all that it started, which end together. Closing the last handle to it ends them, so they do
// not outlive the agent either.
type job struct {
	mu       sync.Mutex
	handle   windows.Handle
	port     windows.Handle // tells when nobody is left
	process  windows.Handle
	terminal windows.Handle
	killed   bool
}

// codeOfKilled is the exit code that a job is ended with.
const codeOfKilled = 137

func (l launching) start() (*job, error) {
	j := &job{}
	err := j.make(l.limits)
	if err == nil {
		err = l.create(j)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

// make creates the job with its limits.
func (j *job) make(l jobLimits) error {
	var err error
	if j.handle, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("make a job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
		LimitFlags: l.flags, ActiveProcessLimit: l.processes}}
	if err := setJob(j.handle, windows.JobObjectExtendedLimitInformation, &limits); err != nil {
		return fmt.Errorf("limit a job: %w", err)
	}
	if l.screens != 0 {
		screens := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: l.screens}
		if err := setJob(j.handle, windows.JobObjectBasicUIRestrictions, &screens); err != nil {
			return fmt.Errorf("limit what a job does with windows: %w", err)
		}
	}
	if j.port, err = windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1); err != nil {
		return fmt.Errorf("watch a job: %w", err)
	}
	watch := struct{ key, port uintptr }{uintptr(j.handle), uintptr(j.port)}
	if err := setJob(j.handle, windows.JobObjectAssociateCompletionPortInformation, &watch); err != nil {
		return fmt.Errorf("watch a job: %w", err)
	}
	return nil
}

// setJob sets one kind of what a job knows. The value is pinned, for the call takes its address as a number.
func setJob[T any](job windows.Handle, kind uint32, value *T) error {
	var pin runtime.Pinner
	pin.Pin(value)
	defer pin.Unpin()
	_, err := windows.SetInformationJobObject(job, kind, uintptr(unsafe.Pointer(value)), uint32(unsafe.Sizeof(*value)))
	return err
}

// create starts the process suspended, puts it into the job and lets it go: none of what it starts is outside then.
func (l launching) create(j *job) error {
	path, err := windows.UTF16PtrFromString(l.path)
	if err != nil {
		return err
	}
	line, err := windows.UTF16PtrFromString(l.line)
	if err != nil {
		return err
	}
	dir, err := windows.UTF16PtrFromString(l.dir)
	if err != nil {
		return err
	}
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return err
	}
	defer attributes.Delete()
	si := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES // with none of them in a terminal: else those of the agent would pass on
	if l.desktop != "" {
		if si.Desktop, err = windows.UTF16PtrFromString(l.desktop); err != nil {
			return err
		}
	}
	flags := uint32(windows.CREATE_SUSPENDED | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT)
	inherit := false
	switch {
	case l.terminal != nil:
		if err := windows.CreatePseudoConsole(*l.terminal, windows.Handle(l.files[0].Fd()), windows.Handle(l.files[1].Fd()), 0, &j.terminal); err != nil {
			return fmt.Errorf("make a pseudo console: %w", err)
		}
		// The attribute is the handle itself, not a place that holds it.
		if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, *(*unsafe.Pointer)(unsafe.Pointer(&j.terminal)), unsafe.Sizeof(j.terminal)); err != nil {
			return err
		}
	default:
		if !l.shared {
			flags |= windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP // a console of its own: the agent's is out of reach
		}
		handles, err := inheritable(l.files)
		defer closeAll(handles)
		if err != nil {
			return err
		}
		si.StdInput, si.StdOutput, si.StdErr = handles[0], handles[1], handles[2]
		if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles[0]), uintptr(len(handles))*unsafe.Sizeof(handles[0])); err != nil {
			return err
		}
		inherit = true
	}
	var pi windows.ProcessInformation
	if l.token != 0 {
		err = windows.CreateProcessAsUser(l.token, path, line, nil, nil, inherit, flags, &l.env[0], dir, &si.StartupInfo, &pi)
	} else {
		err = windows.CreateProcess(path, line, nil, nil, inherit, flags, &l.env[0], dir, &si.StartupInfo, &pi)
	}
	if err != nil {
		return err
	}
	defer windows.CloseHandle(pi.Thread)
	j.process = pi.Process
	if err := windows.AssignProcessToJobObject(j.handle, pi.Process); err != nil {
		_ = windows.TerminateProcess(pi.Process, codeOfKilled)
		return fmt.Errorf("put it into its job: %w", err)
	}
	if _, err := windows.ResumeThread(pi.Thread); err != nil {
		_ = windows.TerminateJobObject(j.handle, codeOfKilled)
		return fmt.Errorf("let it run: %w", err)
	}
	return nil
}

// inheritable are copies of the handles of files that a child may have. There is one for each file, and no other.
func inheritable(files []*os.File) ([]windows.Handle, error) {
	own := windows.CurrentProcess()
	var found []windows.Handle
	for _, f := range files {
		var h windows.Handle
		if err := windows.DuplicateHandle(own, windows.Handle(f.Fd()), own, &h, 0, true, windows.DUPLICATE_SAME_ACCESS); err != nil {
			return found, fmt.Errorf("pass on %s: %w", f.Name(), err)
		}
		found = append(found, h)
	}
	return found, nil
}

func closeAll(handles []windows.Handle) {
	for _, h := range handles {
		_ = windows.CloseHandle(h)
	}
}

func (j *job) wait() ending {
	_, err := windows.WaitForSingleObject(j.process, windows.INFINITE)
	var code uint32
	if err == nil {
		err = windows.GetExitCodeProcess(j.process, &code)
	}
	_ = windows.TerminateJobObject(j.handle, codeOfKilled)
	j.emptied()
	j.mu.Lock()
	killed := j.killed
	j.mu.Unlock()
	j.close()
	switch {
	case err != nil:
		return ending{code: 255}
	case killed && code == codeOfKilled:
		return ending{codeOfKilled, "SIGKILL"}
	}
	return ending{code: int(code)}
}

// emptied waits, for as long as output may take, until nobody of the job is left.
func (j *job) emptied() {
	const nobodyLeft = 4 // JOB_OBJECT_MSG_ACTIVE_PROCESS_ZERO
	for {
		var message uint32
		var key uintptr
		var about *windows.Overlapped
		if windows.GetQueuedCompletionStatus(j.port, &message, &key, &about, uint32(drain.Milliseconds())) != nil || message == nobodyLeft {
			return
		}
	}
}

// signal ends everything: a command has a console of its own, so no key of the agent's reaches it.
func (j *job) signal(syscall.Signal) { j.kill() }

func (j *job) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		j.killed = true
		_ = windows.TerminateJobObject(j.handle, codeOfKilled)
	}
}

func (j *job) close() {
	j.mu.Lock()
	handles, terminal := []windows.Handle{j.handle, j.port, j.process}, j.terminal
	j.handle, j.port, j.process, j.terminal = 0, 0, 0, 0
	j.mu.Unlock()
	if terminal != 0 {
		windows.ClosePseudoConsole(terminal) // it waits until what was printed has been read
	}
	for _, h := range handles {
		if h != 0 {
			_ = windows.CloseHandle(h)
		}
	}
}

// launch fills in what follows from a command and starts it.
func (l launching) launch(c Command, env []string, files []*os.File) (running, error) {
	var err error
	if l.line, err = commandLine(append([]string{l.path}, c.Argv[1:]...)); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	if l.env, err = environmentBlock(env, os.Getenv("SystemRoot")); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	l.files, l.shared = files, c.Stdio != nil
	if c.TTY && c.Stdio == nil {
		size := windows.Coord{X: 120, Y: 40}
		if c.Columns > 0 && c.Rows > 0 {
			size = windows.Coord{X: int16(min(c.Columns, 0x7fff)), Y: int16(min(c.Rows, 0x7fff))}
		}
		l.terminal = &size
	}
	j, err := l.start()
	switch {
	case errors.Is(err, windows.ERROR_BAD_EXE_FORMAT):
		return nil, fmt.Errorf("start %s: it is no program of Windows", c.Argv[0])
	case err != nil:
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	return j, nil
}
