package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What `fit --json --machine FILE` prints of the recorded machines is, model by model, what stands in their goldens.
func TestFitOfRecordedMachines(t *testing.T) {
	goldens, err := filepath.Glob("../../local/testdata/fit/*.golden")
	if err != nil || len(goldens) < 8 {
		t.Fatalf("%d goldens, %v", len(goldens), err)
	}
	keys := regexp.MustCompile(`^\{"model":"[^"]+","window":\d+,"kv":"[^"]*","verdict":"[a-z-]+","bytes":\d+,"speed":"[a-z ]+"[,}]`)
	for _, golden := range goldens {
		name := strings.TrimSuffix(filepath.Base(golden), ".golden")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			code, out, complaints := at(t.Context(), t, "127.0.0.1:1", "fit", "--json", "--machine", "../../local/testdata/machines/"+name+".json")
			if code != 0 {
				t.Fatalf("exit %d\n%s", code, complaints)
			}
			var printed struct{ Models []json.RawMessage }
			if err := json.Unmarshal([]byte(out), &printed); err != nil {
				t.Fatal(err)
			}
			ranking, _, _ := strings.Cut(string(text), "\n\n")
			lines := strings.Split(ranking, "\n")
			if len(lines) != len(printed.Models) {
				t.Fatalf("%d models are printed, %d stand in the golden", len(printed.Models), len(lines))
			}
			for i, line := range lines {
				var m struct {
					Model, KV, Verdict, Speed string
					Window                    int
					Bytes                     int64
				}
				var compact bytes.Buffer
				if err := json.Compact(&compact, printed.Models[i]); err != nil {
					t.Fatal(err)
				}
				if !keys.Match(compact.Bytes()) {
					t.Errorf("the members of %.120s", compact.String())
				}
				if err := json.Unmarshal(printed.Models[i], &m); err != nil {
					t.Fatal(err)
				}
				field := strings.Fields(line)
				got := fmt.Sprint(m.Model, " ", m.Verdict, " ", m.Bytes)
				if want := fmt.Sprint(field[0], " ", field[1], " ", field[4]); got != want {
					t.Errorf("printed %s, want %s", got, want)
				}
				if m.Verdict != "refuse" && fmt.Sprint(m.Window, m.KV) != field[2]+field[3] {
					t.Errorf("%s: printed %d in %s, want %s in %s", m.Model, m.Window, m.KV, field[2], field[3])
				}
				if m.Verdict != "refuse" && !strings.Contains(line, " "+m.Speed+" ") {
					t.Errorf("%s: printed %q, want %s", m.Model, m.Speed, line)
				}
			}
		})
	}
}
