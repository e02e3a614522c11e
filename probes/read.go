package probes

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// A machine of a file is checked against what no machine has.
const (
	mostBytes  = 1 << 50 // a pebibyte
	leastBytes = 16 * mib
)

// Read reads a machine from the JSON that a probe wrote, here or elsewhere. Unknown fields are passed over; an error says
// what is wrong with a file that is something else.
func Read(data []byte) (Machine, error) {
	data = plain(data)
	m, err := decode(data)
	if err == nil {
		m.fill(data)
		err = m.check()
	}
	if err != nil {
		return Machine{}, fmt.Errorf("read a machine: %w", err)
	}
	return m, nil
}

// fill takes a card as wholly free when the file does not say what is: 0 bytes are a word of their own.
func (m *Machine) fill(data []byte) {
	var told struct {
		GPUs []struct {
			Free *int64 `json:"free"`
		} `json:"gpus"`
	}
	if json.Unmarshal(data, &told) != nil {
		return
	}
	for i := range m.GPUs {
		if i < len(told.GPUs) && told.GPUs[i].Free == nil {
			m.GPUs[i].Free = m.GPUs[i].Total
		}
	}
}

// plain takes off the mark at the start of a file, and turns the 16-bit text that a Windows shell writes into UTF-8.
func plain(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	var units []uint16
	for rest := data[2:]; len(rest) >= 2; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return []byte(string(utf16.Decode(units)))
}

func decode(data []byte) (Machine, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return Machine{}, errors.New("it is empty")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var m Machine
	err := decoder.Decode(&m)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return Machine{}, fmt.Errorf("it is JSON but not an object: found %s", kind.Value)
	case errors.As(err, &kind):
		return Machine{}, fmt.Errorf("%s: found %s where %s is expected", kind.Field, kind.Value, expected(kind))
	case errors.As(err, &syntax):
		return Machine{}, fmt.Errorf("it is not JSON: %s at byte %d", syntax, syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Machine{}, errors.New("it is not JSON: it ends in the middle")
	case err != nil:
		return Machine{}, fmt.Errorf("it is not JSON: %w", err)
	}
	if rest := bytes.TrimSpace(data[decoder.InputOffset():]); len(rest) > 0 {
		return Machine{}, fmt.Errorf("something follows the JSON object at byte %d", int64(len(data)-len(rest)))
	}
	return m, nil
}

func expected(kind *json.UnmarshalTypeError) string {
	switch name := kind.Type.Kind().String(); name {
	case "int64", "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	case "slice":
		return "a list"
	default:
		return "an object"
	}
}

// check finds what cannot be: sizes are bytes, never negative, and what is free is part of what is there.
func (m Machine) check() error {
	if m.RAM.Total == 0 {
		return errors.New("ram.total is missing: this is not what interpreter probe --json writes")
	}
	if m.Cores < 0 || m.CPU.Physical < 0 {
		return errors.New("the number of cores is negative")
	}
	parts := []part{
		{"ram.total", m.RAM.Total, 0}, {"ram.physical", m.RAM.Physical, 0}, {"ram.available", m.RAM.Available, m.RAM.Total},
		{"ram.swap_total", m.RAM.SwapTotal, 0}, {"ram.swap_free", m.RAM.SwapFree, 0}, {"unified", m.Unified, 0},
	}
	for i, gpu := range m.GPUs {
		at := fmt.Sprintf("gpus[%d].", i)
		parts = append(parts, part{at + "total", gpu.Total, 0}, part{at + "free", gpu.Free, gpu.Total},
			part{at + "shared_total", gpu.SharedTotal, 0}, part{at + "shared_free", gpu.SharedFree, gpu.SharedTotal})
		if gpu.Free > 0 && gpu.Total == 0 {
			return fmt.Errorf("%sfree is %d without %stotal", at, gpu.Free, at)
		}
		if gpu.Bandwidth < 0 {
			return fmt.Errorf("%sbandwidth is negative: %g", at, gpu.Bandwidth)
		}
	}
	for i, disk := range m.Disks {
		if disk.Total < 0 || disk.Free < 0 {
			return fmt.Errorf("disks[%d] has a negative size: %d bytes free of %d", i, disk.Free, disk.Total)
		}
	}
	for _, p := range parts {
		if err := p.check(); err != nil {
			return err
		}
	}
	if m.CPU.Bandwidth < 0 {
		return fmt.Errorf("cpu.bandwidth is negative: %g", m.CPU.Bandwidth)
	}
	if m.RAM.Total < leastBytes {
		return fmt.Errorf("ram.total is %d: sizes are bytes", m.RAM.Total)
	}
	for i, gpu := range m.GPUs {
		if gpu.Total > 0 && gpu.Total < mib {
			return fmt.Errorf("gpus[%d].total is %d: sizes are bytes", i, gpu.Total)
		}
	}
	return nil
}

// part is a size and what it is part of, 0 for nothing that is known.
type part struct {
	name     string
	n, whole int64
}

func (p part) check() error {
	switch {
	case p.n < 0:
		return fmt.Errorf("%s is negative: %d", p.name, p.n)
	case p.n > mostBytes:
		return fmt.Errorf("%s is %d bytes, more than any machine has", p.name, p.n)
	case p.whole > 0 && p.n > p.whole:
		return fmt.Errorf("%s is %d, more than its total of %d", p.name, p.n, p.whole)
	}
	return nil
}
