package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Rights to a file or folder of Windows ([MS-DTYP] 2.4.3 and the file rights of winnt.h).
const (
	writeData       = 0x2 // of a folder: add a file
	appendData      = 0x4 // of a folder: add a folder
	writeEA         = 0x10
	deleteChild     = 0x40
	writeAttributes = 0x100
	deleteRight     = 0x10000
	readControl     = 0x20000
	writeDAC        = 0x40000
	writeOwner      = 0x80000
	synchronize     = 0x100000
	readAndRun      = 0x1200a9 // FILE_GENERIC_READ | FILE_GENERIC_EXECUTE
	allRights       = 0x10000000
	writeFile       = 0x120116 // FILE_GENERIC_WRITE

	// grantedRights are what a command may do with what is in a writable folder. Not among them: changing who may do what,
	// which would lift the protection of its neighbours, and deleting what is in a folder without a right to it, which
	// would let a protected entry be renamed away.
	grantedRights = readAndRun | writeData | appendData | writeEA | writeAttributes
	// deniedRights are what makes a place read-only. Reading needs readControl and synchronize, so they stay.
	deniedRights = writeData | appendData | writeEA | deleteChild | writeAttributes | deleteRight | writeDAC | writeOwner
)

// Flags of an entry of an access list.
const (
	toFiles     = 0x1 // files below inherit it
	toFolders   = 0x2 // folders below inherit it
	onlyBelow   = 0x8 // it does not hold for the place itself
	inherited   = 0x10
	allBelow    = toFiles | toFolders
	allowedType = 0
	deniedType  = 1
)

// An ace is one entry of an access list. Entries of kinds that this package never writes are carried as they are.
type ace struct {
	kind  byte
	flags byte
	mask  uint32
	who   sid
	raw   []byte // the whole entry, of a kind that is not read
	first bool   // wanted before every other entry: a person opened the place for one command
}

func (a ace) same(b ace) bool {
	return a.kind == b.kind && a.flags == b.flags && a.mask == b.mask && a.who == b.who && a.raw == nil && b.raw == nil
}

// parseACL reads an access list ([MS-DTYP] 2.4.5): revision, zero, size, count, zero, then the entries.
func parseACL(b []byte) ([]ace, error) {
	if len(b) < 8 {
		return nil, errors.New("read an access list: it is cut off")
	}
	if size := int(binary.LittleEndian.Uint16(b[2:])); size < 8 || size > len(b) {
		return nil, fmt.Errorf("read an access list: it says that it has %d bytes, there are %d", size, len(b))
	}
	count, rest := int(binary.LittleEndian.Uint16(b[4:])), b[8:binary.LittleEndian.Uint16(b[2:])]
	var found []ace
	for range count {
		if len(rest) < 4 {
			return nil, errors.New("read an access list: an entry is cut off")
		}
		size := int(binary.LittleEndian.Uint16(rest[2:]))
		if size < 4 || size > len(rest) {
			return nil, errors.New("read an access list: an entry is longer than the list")
		}
		entry := ace{kind: rest[0], flags: rest[1]}
		who, ok := sid(""), false
		if (entry.kind == allowedType || entry.kind == deniedType) && size >= 8 {
			if who, ok = sidOf(rest[8:size]); ok {
				entry.mask, entry.who = binary.LittleEndian.Uint32(rest[4:]), who
			}
		}
		if !ok {
			entry.raw = slices.Clone(rest[:size])
		}
		found, rest = append(found, entry), rest[size:]
	}
	return found, nil
}

// buildACL is the reverse of parseACL.
func buildACL(entries []ace) ([]byte, error) {
	out := make([]byte, 8)
	revision := byte(2)
	for _, e := range entries {
		if e.raw != nil {
			out = append(out, e.raw...)
			if e.kind >= 5 { // entries for objects of a directory service, which files do not have but may carry
				revision = 4
			}
			continue
		}
		who, err := e.who.bytes()
		if err != nil {
			return nil, err
		}
		out = append(out, e.kind, e.flags)
		out = binary.LittleEndian.AppendUint16(out, uint16(8+len(who)))
		out = binary.LittleEndian.AppendUint32(out, e.mask)
		out = append(out, who...)
	}
	if len(out) > 0xffff {
		return nil, fmt.Errorf("write an access list: %d entries are more than fit", len(entries))
	}
	out[0] = revision
	binary.LittleEndian.PutUint16(out[2:], uint16(len(out)))
	binary.LittleEndian.PutUint16(out[4:], uint16(len(entries)))
	return out, nil
}

// mergeACL is a list with our entries as wanted and everybody else's as they were. Ours are those whose name is in
// mine; what others inherit to a place is not ours to change there. Denials stand before permissions and both before
// what is inherited, which is the order Windows expects; what a person opened stands before all. It is false when the
// list is already so.
func mergeACL(have []ace, mine func(sid) bool, want []ace) ([]ace, bool) {
	own := func(e ace) bool { return e.raw == nil && e.flags&inherited == 0 && mine(e.who) }
	before := slices.DeleteFunc(slices.Clone(have), func(e ace) bool { return !own(e) })
	if len(before) == len(want) && !slices.ContainsFunc(want, func(w ace) bool { return !slices.ContainsFunc(before, w.same) }) {
		return have, false
	}
	var opened, denials, rest, passed []ace
	for _, e := range want {
		switch {
		case e.first:
			opened = append(opened, e)
		case e.kind == deniedType:
			denials = append(denials, e)
		default:
			rest = append(rest, e)
		}
	}
	var others []ace
	for _, e := range have {
		switch {
		case own(e):
		case e.flags&inherited != 0:
			passed = append(passed, e)
		default:
			others = append(others, e)
		}
	}
	i := 0
	for i < len(others) && others[i].kind == deniedType {
		i++
	}
	merged := slices.Concat(opened, denials, others[:i], rest, others[i:], passed)
	return merged, true
}

// lets reports whether a list gives rights to the bearer of one name by that name.
func lets(list []ace, who sid, rights uint32) bool {
	const genericWrite, genericAll = 0x40000000, allRights
	for _, e := range list {
		if e.raw != nil || e.who != who || e.flags&onlyBelow != 0 {
			continue
		}
		mask := e.mask
		if mask&genericAll != 0 {
			mask |= 0x1f01ff
		}
		if mask&genericWrite != 0 {
			mask |= writeFile
		}
		if mask&rights != 0 && e.kind == deniedType {
			return false
		}
		if mask&rights == rights && e.kind == allowedType {
			return true
		}
	}
	return false
}
