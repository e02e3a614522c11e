package rules

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const pull = `prefix_rule(pattern=["git", "pull"], decision="allow")`

func TestAdd(t *testing.T) {
	for _, row := range []struct{ name, before, after string }{
		{"no file", "", pull + "\n"},
		{"kept", "# mine\n\nprefix_rule( pattern = [ 'ls' ] ) # why\n", "# mine\n\nprefix_rule( pattern = [ 'ls' ] ) # why\n" + pull + "\n"},
		{"no last line end", "# mine", "# mine\n" + pull + "\n"},
		{"there already", pull + "\n", pull + "\n"},
		{"there in other words", "prefix_rule(['git','pull'])", "prefix_rule(['git','pull'])"},
		{"there, and stricter", "prefix_rule(['git','pull'], decision='prompt')\n", "prefix_rule(['git','pull'], decision='prompt')\n" + pull + "\n"},
		{"a wider one", "prefix_rule(['git'])\n", "prefix_rule(['git'])\n" + pull + "\n"},
		{"line ends", "# mine\r\n", "# mine\r\n" + pull + "\r\n"},
		{"mark", "\ufeff# mine\n", "\ufeff# mine\n" + pull + "\n"},
		{"after a block", "def f():\n    pass", "def f():\n    pass\n" + pull + "\n"},
	} {
		file := filepath.Join(t.TempDir(), "home", "rules", "default.rules")
		if row.before != "" {
			write(t, file, row.before)
		}
		if err := Add(file, []string{"git", "pull"}); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != row.after {
			t.Errorf("%s:\n%q\nwant\n%q, %v", row.name, got, row.after, err)
		}
		if runtime.GOOS != "windows" && row.before == "" {
			for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
				}
			}
		}
	}
}

func TestAddRefuses(t *testing.T) {
	for _, row := range []struct {
		before string
		prefix []string
		says   string
	}{
		{"prefix_rule(\n", []string{"a"}, "default.rules:"},
		{"prefix_rule(pattern=[])\n", []string{"a"}, "default.rules:1: "},
		{"# a\\\n\x00", []string{"a"}, "0x00"},
		{"# mine\n", nil, "no words"},
		{"# mine\n", []string{""}, "no words"},
		{"# mine\n", []string{"a", "\xff"}, "not text"},
		{"# mine\n", []string{"a\x00"}, "not text"},
	} {
		file := filepath.Join(t.TempDir(), "default.rules")
		write(t, file, row.before)
		if err := Add(file, row.prefix); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q, %q: %v, want %s", row.before, row.prefix, err, row.says)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != row.before {
			t.Errorf("%q became %q, %v", row.before, got, err)
		}
	}
}

// Those that add at the same time do not lose a rule, and a reader never sees half a file.
func TestAddTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "default.rules")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if err := Add(file, []string{"git", string(rune('a' + i/2))}); err != nil {
				t.Error(err)
			}
			if _, err := Check([]string{file}, []string{"git"}, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	set, err := Load([]Source{{Dir: filepath.Dir(file)}})
	if err != nil || len(set.Rules()) != 8 {
		t.Errorf("%d rules, %v, want 8", len(set.Rules()), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".rules-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left behind", left, err)
	}
}

// A file that is kept elsewhere stays there.
func TestAddThroughLink(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "dotfiles", "mine"), "# mine\n")
	link := filepath.Join(dir, "default.rules")
	if err := os.Symlink(filepath.Join("dotfiles", "mine"), link); err != nil {
		t.Skip(err)
	}
	if err := Add(link, []string{"git", "pull"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "dotfiles", "mine")); string(got) != "# mine\n"+pull+"\n" {
		t.Errorf("%q", got)
	}
}

func TestRemove(t *testing.T) {
	const host = `network_rule(host="a.b", protocol="http", decision="deny")`
	for _, row := range []struct {
		name, before string
		line         int
		was, after   string
	}{
		{"the only one", pull + "\n", 1, pull, ""},
		{"in the middle", "# a\n" + pull + " # why\n# b\n", 2, pull, "# a\n# b\n"},
		{"the last, without an end", "# a\n" + pull, 2, pull, "# a\n"},
		{"over lines", "prefix_rule(\n  pattern=['git', # x\n   'pull'],\n)\n# b\n", 1, pull, "# b\n"},
		{"one of two that are the same", pull + "\n# a\n" + pull + "\n", 3, pull, pull + "\n# a\n"},
		{"line ends", "# a\r\n" + pull + "\r\n# b\r\n", 2, pull, "# a\r\n# b\r\n"},
		{"mark", "\ufeff" + pull + "\n# b\n", 1, pull, "\ufeff# b\n"},
		{"host", "# a\n" + host + "\n", 2, host, "# a\n"},
		{"beside code", "def f():\n  pass\n" + pull + "\nf()\n", 3, pull, "def f():\n  pass\nf()\n"},
	} {
		file := filepath.Join(t.TempDir(), "x.rules")
		write(t, file, row.before)
		if err := Remove(file, row.line, row.was); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != row.after {
			t.Errorf("%s:\n%q\nwant\n%q, %v", row.name, got, row.after, err)
		}
	}
}

func TestRemoveRefuses(t *testing.T) {
	for _, row := range []struct {
		before string
		line   int
		says   string
	}{
		{"# a\n" + pull + "\n", 1, "no rule stands there"},
		{pull + "\n", 7, "no rule stands there"},
		{"prefix_rule(['git', 'push'])\n", 1, "not there any more"},
		{pull + "; " + pull + "\n", 1, "does not edit"},
		{"for x in ['pull']:\n  prefix_rule(['git', x])\n", 2, "does not edit"},
		{"[prefix_rule(['git', x]) for x in ['pull']]\n", 1, "does not edit"},
		{"def f():\n  prefix_rule(['git', 'pull'])\nf()\n", 2, "does not edit"},
		{"x = prefix_rule(['git', 'pull'])\n", 1, "does not edit"},
		{"x = 1; prefix_rule(['git', 'pull'])\n", 1, "does not edit"},
		{pull + "\nprefix_rule(\n", 1, "x.rules:"},
	} {
		file := filepath.Join(t.TempDir(), "x.rules")
		write(t, file, row.before)
		err := Remove(file, row.line, pull)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q: %v, want %s", row.before, err, row.says)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != row.before {
			t.Errorf("%q became %q, %v", row.before, got, err)
		}
	}
}

// What is added is there, what is removed again leaves the file as it was.
func FuzzAddRemove(f *testing.F) {
	f.Add("# mine\n", "git", "pull")
	f.Add("prefix_rule(pattern=['a'])", "a b", "\"\\\n\t‮")
	f.Add("def f():\n  pass\r\n", "'", "")
	f.Fuzz(func(t *testing.T, before, one, two string) {
		file := filepath.Join(t.TempDir(), "x.rules")
		write(t, file, before)
		if Add(file, []string{one, two}) != nil {
			if got, err := os.ReadFile(file); err != nil || string(got) != before {
				t.Fatalf("refused, and %q became %q, %v", before, got, err)
			}
			return
		}
		added, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Check([]string{file}, []string{one, two, "x"}, false)
		if err != nil && !strings.Contains(err.Error(), "example") && !strings.Contains(err.Error(), "not_match") {
			t.Fatalf("%q: %v", added, err)
		}
		if err == nil && got.Decision == "" {
			t.Fatalf("%q: the rule for %q, %q is not there", added, one, two)
		}
		if string(added) == before {
			return
		}
		rules, err := parse(file, strings.TrimPrefix(string(added), "\ufeff"))
		if err != nil {
			t.Fatal(err)
		}
		last := rules.set.prefixes[len(rules.set.prefixes)-1]
		if err := Remove(file, last.Line, last.String()); err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		after, err := os.ReadFile(file)
		if want := strings.TrimRight(before, "\r\n"); err != nil || strings.TrimRight(string(after), "\r\n") != want {
			t.Fatalf("%q became %q, %v", before, after, err)
		}
	})
}
