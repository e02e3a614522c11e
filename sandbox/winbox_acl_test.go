package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSIDForms(t *testing.T) {
	for text, want := range map[sid][]byte{
		"S-1-1-0":      {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
		"S-1-5-18":     {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0},
		"S-1-5-32-544": {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0},
	} {
		got, err := text.bytes()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if back, ok := sidOf(append(got, 9, 9)); !ok || back != text {
			t.Errorf("%s came back as %s, %v", text, back, ok)
		}
	}
	for _, bad := range []sid{"", "S-1", "S-1-5", "S-2-5-18", "S-1-x-1", "S-1-5-4294967296", "S-1-5--1", "S-1-281474976710656-1", "S-1-5" + sid(strings.Repeat("-1", 16))} {
		if _, err := bad.bytes(); err == nil && bad != "S-1-5" {
			t.Errorf("%q was taken", bad)
		}
	}
	one, two := newSID(), newSID()
	if one == two || !one.ours() || everyoneSID.ours() || sid("S-1-15-3-4096-1-2-3").ours() || sid("S-1-15-3-4096-1-2-3-x").ours() {
		t.Errorf("made up %s and %s", one, two)
	}
}

func TestACLRoundTrip(t *testing.T) {
	list := []ace{
		{kind: deniedType, flags: allBelow, mask: deniedRights, who: newSID()},
		{kind: allowedType, mask: grantedRights, who: newSID()},
		{kind: 9, flags: inherited, raw: []byte{9, inherited, 8, 0, 1, 2, 3, 4}},
		{kind: allowedType, flags: inherited, mask: 0x1f01ff, who: systemSID},
	}
	data, err := buildACL(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseACL(append(data, 0, 0))
	if err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("got %+v, %v", got, err)
	}
	for i := range data {
		_, _ = parseACL(data[:i]) // it must not run over the end
	}
	if _, err := parseACL(data[:len(data)-1]); err == nil {
		t.Error("a list that is cut off was read")
	}
}

// disk is a model of a volume: the lists that places carry, by the rules of Windows for inheritance and for access.
type disk map[string][]ace

func (d disk) apply(want map[string][]ace, mine func(sid) bool) (writes int) {
	for path, entries := range want {
		if merged, changed := mergeACL(d[path], mine, entries); changed {
			d[path], writes = merged, writes+1
		}
	}
	return writes
}

// list is what a place carries, with what it inherits behind, from the nearest folder first.
func (d disk) list(path string) []ace {
	found := slices.DeleteFunc(slices.Clone(d[path]), func(e ace) bool { return e.flags&inherited != 0 })
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		for _, e := range d[dir] {
			if e.flags&allBelow != 0 {
				e.flags = e.flags&^onlyBelow | inherited
				found = append(found, e)
			}
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

// can tells whether a write of a restricted token passes its second check.
func (d disk) can(names []sid, path string, rights uint32) bool {
	left := rights
	for _, e := range d.list(path) {
		if e.flags&onlyBelow != 0 || !slices.Contains(names, e.who) {
			continue
		}
		if e.kind == deniedType && e.mask&left != 0 {
			return false
		}
		if left &^= e.mask; e.kind == allowedType && left == 0 {
			return true
		}
	}
	return false
}

// removes tells whether an entry may be deleted or renamed: by itself, or by its folder.
func (d disk) removes(names []sid, path string) bool {
	return d.can(names, path, deleteRight) || d.can(names, filepath.Dir(path), deleteChild)
}

func TestWhatCommandsMayWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the model has paths of Unix")
	}
	root, inner, other := newSID(), newSID(), newSID()
	grants := []grant{{path: "/w", who: root}, {path: "/w/deep/inner", who: inner}}
	g := &guards{
		readOnly: []string{"/w/.git", "/w/sub/.git/hooks", "/w/deep/inner/.git"},
		pins:     []string{"/w/sub", "/w/sub/.git"}, links: map[string]string{"/w/.codex": "elsewhere"}, missing: []string{"/w/a/b/.agents"},
	}
	d := disk{"/w": {{kind: allowedType, flags: allBelow, mask: 0x1f01ff, who: everyoneSID}}}
	all := func(s sid) bool { return s == root || s == inner }
	d.apply(wantACEs(grants, g), all)
	names := []sid{"S-1-5-5-0-1", newSID(), root, inner}
	for path, may := range map[string]bool{
		"/w": true, "/w/main.go": true, "/w/new/file": true, "/w/sub/a": true, "/w/sub/.git/index": true, "/w/deep/inner/x": true,
		"/w/.git": false, "/w/.git/config": false, "/w/sub/.git/hooks/pre-commit": false, "/w/deep/inner/.git/config": false, "/elsewhere": false, "/": false,
	} {
		if got := d.can(names, path, writeData); got != may {
			t.Errorf("writes %s: %v", path, got)
		}
	}
	for path, may := range map[string]bool{
		"/w/main.go": true, "/w/sub/a": true, "/w/sub/.git/index": true, "/w/deep/inner/x": true,
		"/w": false, "/w/.git": false, "/w/.git/config": false, "/w/sub": false, "/w/sub/.git": false, "/w/sub/.git/hooks": false, "/w/deep": false, "/w/deep/inner": false, "/w/.codex": false, "/w/a": false, "/w/a/b": false,
	} {
		if got := d.removes(names, path); got != may {
			t.Errorf("removes %s: %v", path, got)
		}
	}
	for _, path := range []string{"/w", "/w/main.go", "/w/.git", "/w/deep/inner/x"} {
		if d.can(names, path, writeDAC) || d.can(names, path, writeOwner) || d.can(names, path, deleteChild) {
			t.Errorf("%s: a command may change who may do what", path)
		}
		if d.can([]sid{"S-1-5-5-0-1", other}, path, writeData) {
			t.Errorf("%s: a command of another workspace may write it", path)
		}
	}

	// Again is nothing to write.
	if n := d.apply(wantACEs(grants, g), all); n != 0 {
		t.Errorf("%d lists were written again", n)
	}

	// What a person opened for one command is open to it alone, but for what of it runs.
	once := newSID()
	opened := []grant{{path: "/w/.git", who: once, opened: true}, {path: "/etc/one", who: once, opened: true, file: true}}
	want := wantACEs(opened, &guards{readOnly: []string{"/w/.git/hooks", "/w/.git/config"}})
	d.apply(want, func(s sid) bool { return s == once })
	with := append(slices.Clone(names), once)
	for path, may := range map[string]bool{"/w/.git/index": true, "/w/.git": true, "/etc/one": true, "/etc/two": false, "/w/.git/hooks/x": false, "/w/.git/config": false} {
		if got := d.can(with, path, writeData); got != may {
			t.Errorf("opened: writes %s: %v", path, got)
		}
	}
	if d.removes(with, "/w/.git") || !d.removes(with, "/w/.git/index.lock") || d.can(names, "/w/.git/index", writeData) {
		t.Error("opening lets more, or less, than was opened")
	}
	for path := range want {
		d.apply(map[string][]ace{path: nil}, func(s sid) bool { return s == once })
	}
	if d.can(with, "/w/.git/index", writeData) || d.can(with, "/etc/one", writeData) {
		t.Error("what was opened for one command stayed open")
	}
	if d["/w"][len(d["/w"])-1].who != everyoneSID {
		t.Errorf("an entry that is not ours is gone: %+v", d["/w"])
	}

	// Taken away, nothing of ours is left.
	for path := range d {
		d.apply(map[string][]ace{path: nil}, sid.ours)
	}
	for path, list := range d {
		if slices.ContainsFunc(list, func(e ace) bool { return e.who.ours() }) {
			t.Errorf("%s still carries %+v", path, list)
		}
	}
}

func TestMergeKeepsOrder(t *testing.T) {
	own, their := newSID(), sid("S-1-5-21-1-2-3-1001")
	have := []ace{
		{kind: deniedType, mask: 1, who: their}, {kind: allowedType, mask: 2, who: their}, {kind: allowedType, mask: 4, who: own},
		{kind: deniedType, flags: inherited, mask: 8, who: own},
	}
	got, changed := mergeACL(have, func(s sid) bool { return s == own }, []ace{
		{kind: allowedType, mask: 16, who: own}, {kind: deniedType, mask: 32, who: own}, {kind: allowedType, mask: 64, who: own, first: true}})
	var masks []uint32
	for _, e := range got {
		masks = append(masks, e.mask)
	}
	if want := []uint32{64, 32, 1, 16, 2, 8}; !changed || !slices.Equal(masks, want) {
		t.Errorf("got %v, want %v", masks, want)
	}
}

func TestAccessRecord(t *testing.T) {
	home := t.TempDir()
	r, err := readAccess(home)
	if err != nil || !r.Device.ours() {
		t.Fatalf("a new record: %+v, %v", r, err)
	}
	first := r.root("/w", "/w")
	if r.root("/w", "/w") != first || r.root("/v", "/w") == first || r.root("/w", "/tmp") == first {
		t.Error("names of writable folders are not one to each")
	}
	want := map[string][]ace{"/w": {{who: first}}, "/w/.git": {{who: first}}}
	if !r.note(want) || r.note(want) || len(r.Places) != 2 {
		t.Errorf("places are %v", r.Places)
	}
	if err := r.write(home); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(accessName(home)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, err := readAccess(home)
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("read back %+v, %v", again, err)
	}
	if stale := again.stale([]string{"/w"}, map[string][]ace{"/w": nil}); !slices.Equal(stale, []string{"/w/.git"}) {
		t.Errorf("stale are %v", stale)
	}

	var cleared []string
	done, err := again.remove(home, func(path string) error {
		cleared = append(cleared, path)
		if path == "/w/.git" {
			return errors.New("no")
		}
		return nil
	})
	if err == nil || !slices.Equal(done, []string{"/w"}) || len(cleared) != 2 {
		t.Errorf("removed %v of %v, %v", done, cleared, err)
	}
	left, err := readAccess(home)
	if err != nil || !slices.Equal(left.Places, []string{"/w/.git"}) {
		t.Errorf("left is %+v, %v", left, err)
	}
	if _, err := left.remove(home, func(string) error { return fs.ErrNotExist }); err != nil {
		t.Error(err)
	}
	if exists(accessName(home)) {
		t.Error("the record is still there")
	}
	if done, err := RemoveAccess(t.TempDir()); err != nil || len(done) != 0 {
		t.Errorf("nothing to remove: %v, %v", done, err)
	}
}

func TestAccessRecordRefusesNamesOfOthers(t *testing.T) {
	for _, text := range []string{
		`{"version":1,"device":"S-1-1-0"}`, `{"version":2,"device":"S-1-15-3-4096-1-2-3-4"}`, `{`,
		`{"version":1,"device":"S-1-15-3-4096-1-2-3-4","roots":[{"workspace":"/w","path":"/w","sid":"S-1-5-32-545"}]}`,
	} {
		home := t.TempDir()
		if err := os.WriteFile(accessName(home), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := readAccess(home); err == nil {
			t.Errorf("%s was read as %+v", text, r)
		}
	}
}

func TestLets(t *testing.T) {
	for _, c := range []struct {
		list []ace
		want bool
	}{
		{nil, false},
		{[]ace{{kind: allowedType, mask: writeFile, who: everyoneSID}}, false},
		{[]ace{{kind: allowedType, mask: writeFile, who: restrictedSID}}, true},
		{[]ace{{kind: allowedType, mask: allRights, who: restrictedSID}}, true},
		{[]ace{{kind: allowedType, mask: 0x40000000, who: restrictedSID}}, true},
		{[]ace{{kind: allowedType, mask: readAndRun, who: restrictedSID}}, false},
		{[]ace{{kind: deniedType, mask: writeData, who: restrictedSID}, {kind: allowedType, mask: writeFile, who: restrictedSID}}, false},
		{[]ace{{kind: allowedType, flags: onlyBelow, mask: writeFile, who: restrictedSID}}, false},
	} {
		if got := lets(c.list, restrictedSID, writeData); got != c.want {
			t.Errorf("%+v: %v", c.list, got)
		}
	}
}

func FuzzParseACL(f *testing.F) {
	seed, _ := buildACL([]ace{{kind: allowedType, mask: 1, who: systemSID}, {kind: 9, raw: []byte{9, 0, 4, 0}}})
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseACL(data)
		if err != nil {
			return
		}
		built, err := buildACL(list)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseACL(built); err != nil || !reflect.DeepEqual(again, list) {
			t.Fatalf("%+v became %+v, %v", list, again, err)
		}
	})
}
