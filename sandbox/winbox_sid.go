package sandbox

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// A sid names who may do something on Windows, in the text form S-1-AUTHORITY-NUMBER…
type sid string

// Names that Windows gives meaning to.
const (
	systemSID     sid = "S-1-5-18"
	everyoneSID   sid = "S-1-1-0"
	restrictedSID sid = "S-1-5-12" // any program under restriction; devices are open to it, files of people hardly ever
)

// newSID makes up a name that nobody has: 128 random bits in the range of capabilities of applications, which no
// account and no group can be given (S-1-15-3 of [MS-DTYP] 2.4.2.4).
func newSID() sid {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails, it says
	text := "S-1-15-3-4096"
	for i := 0; i < len(random); i += 4 {
		text += "-" + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(random[i:])), 10)
	}
	return sid(text)
}

// ours reports whether a name has the form that newSID gives.
func (s sid) ours() bool {
	rest, ok := strings.CutPrefix(string(s), "S-1-15-3-4096-")
	return ok && strings.Count(rest, "-") == 3 && validSID(s)
}

func validSID(s sid) bool {
	_, err := s.bytes()
	return err == nil
}

// bytes is the form in memory ([MS-DTYP] 2.4.2.2): revision, number of sub-authorities, six bytes of authority with the
// high ones first, then the sub-authorities with the low bytes first.
func (s sid) bytes() ([]byte, error) {
	parts := strings.Split(string(s), "-")
	if len(parts) < 3 || len(parts) > 18 || parts[0] != "S" || parts[1] != "1" {
		return nil, fmt.Errorf("read the security identifier %q: it is not S-1-AUTHORITY-NUMBER…", string(s))
	}
	authority, err := strconv.ParseUint(parts[2], 10, 48)
	if err != nil {
		return nil, fmt.Errorf("read the security identifier %q: the authority %q is no number of 48 bits", string(s), parts[2])
	}
	var high [8]byte
	binary.BigEndian.PutUint64(high[:], authority)
	out := append([]byte{1, byte(len(parts) - 3)}, high[2:]...)
	for _, part := range parts[3:] {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read the security identifier %q: %q is no number of 32 bits", string(s), part)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return out, nil
}

// sidOf reads the form in memory; there may be more behind it.
func sidOf(b []byte) (sid, bool) {
	if len(b) < 8 || b[0] != 1 || b[1] > 15 || len(b) < 8+4*int(b[1]) {
		return "", false
	}
	var high [8]byte
	copy(high[2:], b[2:8])
	text := "S-1-" + strconv.FormatUint(binary.BigEndian.Uint64(high[:]), 10)
	for i := range int(b[1]) {
		text += "-" + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b[8+4*i:])), 10)
	}
	return sid(text), true
}
