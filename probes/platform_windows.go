package probes

import (
	"io/fs"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

func platformCPU(fs.FS) (string, int) {
	return strings.Join(strings.Fields(machineValue(`HARDWARE\DESCRIPTION\System\CentralProcessor\0`, "ProcessorNameString")), " "), physicalCores()
}

func platformVirtual(fs.FS) string {
	const board = `HARDWARE\DESCRIPTION\System\BIOS`
	if boardIsVirtual(machineValue(board, "SystemManufacturer"), machineValue(board, "SystemProductName")) {
		return "vm"
	}
	return ""
}

// bootID is the number of times that this Windows has started.
func bootID(fs.FS) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE,
		`SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	n, _, err := key.GetIntegerValue("BootId")
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func machineValue(path, name string) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	value, _, _ := key.GetStringValue(name)
	return value
}

// physicalCores asks for the records of cores alone, first for their length.
func physicalCores() int {
	ask := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetLogicalProcessorInformationEx")
	if ask.Find() != nil {
		return 0
	}
	var length uint32
	ask.Call(0, 0, uintptr(unsafe.Pointer(&length)))
	if length == 0 || length > mib {
		return 0
	}
	records := make([]byte, length)
	if ok, _, _ := ask.Call(0, uintptr(unsafe.Pointer(&records[0])), uintptr(unsafe.Pointer(&length))); ok == 0 {
		return 0
	}
	return windowsCores(records[:min(int(length), len(records))])
}

// display reads the class of display adapters in the registry.
func display() finding {
	const class = `SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}`
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, class, registry.READ)
	if err != nil {
		return func(m *Machine) { m.note("registry", "display adapters are unknown: "+err.Error()) }
	}
	defer key.Close()
	names, err := key.ReadSubKeyNames(-1)
	if err != nil {
		return func(m *Machine) { m.note("registry", "display adapters are unknown: "+err.Error()) }
	}
	var all []adapter
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue // "Properties", which is closed to us
		}
		sub, err := registry.OpenKey(registry.LOCAL_MACHINE, class+`\`+name, registry.QUERY_VALUE)
		if err != nil {
			continue
		}
		a := adapter{key: name}
		a.name, _, _ = sub.GetStringValue("DriverDesc")
		a.device, _, _ = sub.GetStringValue("MatchingDeviceId")
		a.driver, _, _ = sub.GetStringValue("DriverVersion")
		if n, _, err := sub.GetIntegerValue("HardwareInformation.qwMemorySize"); err == nil {
			a.memory = n
		} else if data, _, err := sub.GetBinaryValue("HardwareInformation.qwMemorySize"); err == nil {
			a.memory = littleEndian(data)
		}
		sub.Close()
		all = append(all, a)
	}
	return adapters(all)
}
