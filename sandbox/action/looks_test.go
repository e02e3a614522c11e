package action

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"testing"
)

func TestName(t *testing.T) {
	w := workspace(t, map[string]string{"cmd/user_service.go": "", "cmd/service.go": "", "docs/service.md": "", "deep/er/userservice_test.go": "", "README.md": ""})
	tests := []struct {
		find Name
		want []string
	}{
		{Name{Query: "service.go"}, []string{"cmd/service.go", "cmd/user_service.go"}},
		{Name{Query: "Service", Kinds: []string{"go"}}, []string{"cmd/service.go", "cmd/user_service.go", "deep/er/userservice_test.go"}},
		{Name{Query: "service docs"}, []string{"docs/service.md"}},
		{Name{Query: "usrsvc"}, []string{"cmd/user_service.go", "deep/er/userservice_test.go"}},
		{Name{Query: "service", Exclude: []string{"*_test.go", "docs/*"}}, []string{"cmd/service.go", "cmd/user_service.go"}},
		{Name{Query: "readme", Path: "cmd"}, nil},
	}
	for _, tt := range tests {
		found, err := tt.find.Do(context.Background(), w)
		if err != nil {
			t.Errorf("%+v: %v", tt.find, err)
		}
		var got []string
		for _, h := range found.Hits {
			got = append(got, w.relative(h.Path))
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v finds %q, want %q", tt.find, got, tt.want)
		}
	}
	if found, err := (Name{Query: "service", Limit: 1}).Do(context.Background(), w); err != nil || len(found.Hits) != 1 || found.More != 3 {
		t.Errorf("one of four: %+v, %v", found, err)
	}
	for _, bad := range []Name{{Query: " "}, {Query: "x", Exclude: []string{"["}}, {Query: "x", Path: "nowhere"}} {
		if _, err := bad.Do(context.Background(), w); err == nil {
			t.Errorf("%+v has no error", bad)
		}
	}
}

func TestCrop(t *testing.T) {
	w := workspace(t, nil)
	whole := image.NewRGBA(image.Rect(0, 0, 10, 8))
	whole.Set(7, 5, color.RGBA{255, 0, 0, 255})
	var buf bytes.Buffer
	if err := png.Encode(&buf, whole); err != nil {
		t.Fatal(err)
	}
	put(t, w, "a.png", buf.String())
	seen, err := Crop{Path: "a.png", X: 6, Y: 4, W: 99, H: 2}.Do(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	part, err := png.Decode(bytes.NewReader(seen.Image))
	if err != nil || part.Bounds() != image.Rect(0, 0, 4, 2) {
		t.Fatalf("the part is %v, %v", part.Bounds(), err)
	}
	if r, _, _, _ := part.At(1, 1).RGBA(); r != 0xffff {
		t.Errorf("the red dot is not where it must be")
	}
	if all, err := (Crop{Path: "a.png"}).Do(context.Background(), w); err != nil || !bytes.Equal(all.Image, buf.Bytes()) {
		t.Errorf("all of it is not the file, %v", err)
	}
	if _, err := (Crop{Path: "a.png", X: 50, W: 1, H: 1}).Do(context.Background(), w); err == nil {
		t.Error("a part outside has no error")
	}
}

func TestCommands(t *testing.T) {
	w := workspace(t, nil)
	ctx := context.Background()
	for _, script := range []string{"exit 0", "sleep 60", "sleep 61"} {
		ran, err := Run{Script: script, Background: true}.Do(ctx, w)
		if err != nil {
			t.Fatal(err)
		}
		if script == "exit 0" {
			l, err := w.run(ran.Session)
			if err != nil {
				t.Fatal(err)
			}
			<-l.proc.Done()
		}
	}
	found, err := Commands{}.Do(ctx, w)
	if err != nil || len(found.Hits) != 3 || !found.Hits[0].Ended || found.Hits[1].Text != "sleep 60" {
		t.Errorf("all: %+v, %v", found, err)
	}
	if found, _ = (Commands{Active: true, Limit: 1}).Do(ctx, w); len(found.Hits) != 1 || found.Hits[0].Text != "sleep 61" || found.More != 1 {
		t.Errorf("the newest that runs: %+v", found)
	}
	if found, err = (StopAll{}).Do(ctx, w); err != nil || len(found.Hits) != 3 {
		t.Errorf("stopped: %+v, %v", found, err)
	}
	if left := w.Running(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}
