package main

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func TestLargeImagesShrink(t *testing.T) {
	wide := image.NewNRGBA(image.Rect(0, 0, 4096, 30))
	for x := range 4096 {
		for y := range 30 {
			wide.SetNRGBA(x, y, color.NRGBA{uint8(x % 2 * 200), 100, 0, 255}) // columns of 0 and 200: 100 on average
		}
	}
	small := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	dir := t.TempDir()
	write := func(name string, encode func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	paths := []string{
		write("wide.png", func(b *bytes.Buffer) error { return png.Encode(b, wide) }),
		write("wide.jpg", func(b *bytes.Buffer) error { return jpeg.Encode(b, wide, nil) }),
		write("small.png", func(b *bytes.Buffer) error { return png.Encode(b, small) }),
	}
	got, err := readImages(paths)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind, mime    string
		width, height int
	}{{"png", "image/png", 2048, 15}, {"jpeg", "image/jpeg", 2048, 15}, {"png", "image/png", 3, 2}} {
		img, kind, err := image.Decode(bytes.NewReader(got[i].Data))
		if err != nil {
			t.Fatal(err)
		}
		if size := img.Bounds().Size(); kind != want.kind || got[i].MIME != want.mime || size != image.Pt(want.width, want.height) {
			t.Errorf("%s: got %s, %s, %v, want %+v", paths[i], kind, got[i].MIME, size, want)
		}
	}
	img, _ := png.Decode(bytes.NewReader(got[0].Data))
	if r, g, _, a := img.At(1000, 7).RGBA(); r>>8 != 100 || g>>8 != 100 || a>>8 != 255 {
		t.Errorf("got the point %d %d %d, want the mean of what it stands for", r>>8, g>>8, a>>8)
	}
	as, _ := os.ReadFile(paths[2])
	if !bytes.Equal(got[2].Data, as) {
		t.Error("a small picture is sent as it is")
	}
}
