package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// What x/sys does not have.
var (
	createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")
	createDesktop         = windows.NewLazySystemDLL("user32.dll").NewProc("CreateDesktopW")
)

// identity is who the agent runs as.
type identity struct {
	person sid
	logon  sid // of this session at the machine: its windows, its consoles
}

func ownIdentity() (identity, error) {
	token, err := ownToken()
	if err != nil {
		return identity{}, err
	}
	defer token.Close()
	user, err := token.GetTokenUser()
	if err != nil {
		return identity{}, fmt.Errorf("read the person of the agent's token: %w", err)
	}
	groups, err := token.GetTokenGroups()
	if err != nil {
		return identity{}, fmt.Errorf("read the groups of the agent's token: %w", err)
	}
	for _, g := range groups.AllGroups() {
		if g.Attributes&windows.SE_GROUP_LOGON_ID == windows.SE_GROUP_LOGON_ID {
			return identity{sid(user.User.Sid.String()), sid(g.Sid.String())}, nil
		}
	}
	return identity{}, errors.New("read the groups of the agent's token: it belongs to no log-on session")
}

func ownToken() (windows.Token, error) {
	var token windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_QUERY|windows.TOKEN_ASSIGN_PRIMARY|
		windows.TOKEN_ADJUST_DEFAULT|windows.TOKEN_ADJUST_SESSIONID, &token)
	if err != nil {
		return 0, fmt.Errorf("open the agent's token: %w", err)
	}
	return token, nil
}

// restrict makes a token of the agent's own whose every write must be allowed to one of the names too. What its bearer
// makes in memory is open to the name own. The caller closes it.
func (id identity) restrict(own sid, names []sid) (windows.Token, error) {
	agent, err := ownToken()
	if err != nil {
		return 0, err
	}
	defer agent.Close()
	forms := make([][]byte, len(names))
	attributes := make([]windows.SIDAndAttributes, len(names))
	for i, name := range names {
		if forms[i], err = name.bytes(); err != nil {
			return 0, err
		}
		attributes[i].Sid = (*windows.SID)(unsafe.Pointer(&forms[i][0]))
	}
	var token windows.Token
	ok, _, err := createRestrictedToken.Call(uintptr(agent), tokenFlags, 0, 0, 0, 0, uintptr(len(attributes)),
		uintptr(unsafe.Pointer(&attributes[0])), uintptr(unsafe.Pointer(&token)))
	if ok == 0 {
		return 0, fmt.Errorf("make a restricted token: %w", err)
	}
	list, err := buildACL(defaultACL(own, id.person))
	if err == nil {
		holder := struct{ list *windows.ACL }{(*windows.ACL)(unsafe.Pointer(&list[0]))}
		err = windows.SetTokenInformation(token, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&holder)), uint32(unsafe.Sizeof(holder)))
	}
	if err != nil {
		token.Close()
		return 0, fmt.Errorf("set the default access list of a restricted token: %w", err)
	}
	return token, nil
}

// newDesktop makes a desktop without a window for commands to open theirs on, so that they can neither see nor drive
// those of the person. It lasts as long as the agent. Where there is none to be had, as in a service, the name is ""
// and the limits of the job alone keep windows apart.
func (id identity) newDesktop() string {
	name := "interpreter-" + rand.Text()[:12]
	descriptor, err := windows.SecurityDescriptorFromString("D:(A;;GA;;;SY)(A;;GA;;;" + string(id.person) + ")(A;;GA;;;" + string(id.logon) + ")")
	if err != nil {
		return ""
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: descriptor}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return ""
	}
	handle, _, _ := createDesktop.Call(uintptr(unsafe.Pointer(wide)), 0, 0, 0, allRights, uintptr(unsafe.Pointer(&attributes)))
	if handle == 0 {
		return ""
	}
	return name // of the window station that the agent is on
}
