package probes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite want.json of the recorded machines")

// TestMachines plays the recorded machines of testdata/machines: what the kernel's files and the drivers' tools said, and
// the machine that we make of it. The comment's last line has the MiB of memory that are built in and available.
func TestMachines(t *testing.T) {
	files, _ := filepath.Glob("testdata/machines/*.txtar")
	if len(files) < 15 {
		t.Fatalf("%d recorded machines", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, want := recorded(archive)
			comment := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
			var physical, available int64
			if _, err := fmt.Sscanf(comment[len(comment)-1], "ram %d %d", &physical, &available); err != nil {
				t.Fatal(err)
			}
			m := Machine{OS: "linux", Arch: "amd64", Cores: 8,
				RAM: Memory{Physical: physical * mib, Total: physical * mib, Available: available * mib, Source: "recorded"}}
			for _, tell := range gather(t.Context(), w.devices()) {
				tell(&m)
			}
			m.GPUs, m.CPU.Features = order(m.GPUs), nil
			got := pretty(t, m)
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want.json" })
				archive.Files = append(archive.Files, txtar.File{Name: "want.json", Data: got})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			again, err := Read(got)
			if err != nil {
				t.Fatalf("our own output: %v", err)
			}
			if text := pretty(t, again); !bytes.Equal(text, got) {
				t.Errorf("read back as\n%s", text)
			}
		})
	}
}

func pretty(t *testing.T, m Machine) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// recorded makes a world of an archive. The tools answer from the files in a folder of their name.
func recorded(archive *txtar.Archive) (w world, want []byte) {
	root := fstest.MapFS{}
	for _, f := range archive.Files {
		if f.Name == "want.json" {
			want = f.Data
			continue
		}
		root[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return world{
		os: "linux", root: root,
		find: func(tool string) string {
			if _, err := fs.Stat(root, tool); err != nil {
				return ""
			}
			return tool
		},
		run: func(_ context.Context, tool string, args ...string) (string, error) {
			if text(root, tool+"/exit") != "" {
				return "", fmt.Errorf("exit status %s: %s", text(root, tool+"/exit"), firstLine(text(root, tool+"/says")))
			}
			if query, ok := strings.CutPrefix(args[0], "--query-gpu="); ok {
				return columns(text(root, tool+"/query"), strings.Split(query, ","))
			}
			data, err := fs.ReadFile(root, tool+"/"+strings.Join(args, " "))
			return string(data), err
		},
		regions: func(file string) (total, free int64, ok bool) {
			n, _ := fmt.Sscanf(text(root, "drm/"+filepath.Base(file)), "%d %d", &total, &free)
			return total, free, n == 2
		},
	}, want
}

// columns answers a query from a table, as nvidia-smi does: it stops at the first field that it does not know.
func columns(table string, asked []string) (string, error) {
	head, rows, _ := strings.Cut(table, "\n")
	known := strings.Split(head, ", ")
	var out strings.Builder
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSpace(row), ", ")
		var line []string
		for _, field := range asked {
			i := slices.Index(known, field)
			if i < 0 {
				said := fmt.Sprintf("Field %q is not a valid field to query.", field)
				return said, errors.New("exit status 2: " + said)
			}
			if i < len(cells) {
				line = append(line, cells[i])
			}
		}
		out.WriteString(strings.Join(line, ", ") + "\n")
	}
	return out.String(), nil
}
