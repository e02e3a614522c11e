package action

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif" // what can be cut, besides PNG
	_ "image/jpeg"
	"image/png"
)

// Crop shows a part of an image.
type Crop struct {
	Path       string
	X, Y, W, H int // pixels; W and H 0 shows all of it
}

// Title is the action in a line.
func (a Crop) Title() string { return one("look at a part of %s", a.Path) }

// Need asks for the file.
func (a Crop) Need() Need { return Need{Effect: Reads, Paths: []string{a.Path}} }

// Do reads the image and cuts the part out, as PNG. A part that reaches over the edge ends there. What is no image
// comes back as Read has it.
func (a Crop) Do(ctx context.Context, w *Workspace) (Seen, error) {
	seen, err := Read{Path: a.Path}.Do(ctx, w)
	if err != nil || seen.Image == nil || a.W == 0 && a.H == 0 {
		return seen, err
	}
	whole, _, err := image.Decode(bytes.NewReader(seen.Image))
	if err != nil {
		return Seen{}, fmt.Errorf("cut %s, %s: %w; ask for all of it", a.Path, seen.MIME, err)
	}
	b := whole.Bounds()
	part := image.Rect(a.X, a.Y, a.X+a.W, a.Y+a.H).Add(b.Min).Intersect(b)
	if part.Empty() {
		return Seen{}, fmt.Errorf("cut %s: the part at %d,%d of %d by %d pixels is outside the image, which has %d by %d", a.Path, a.X, a.Y, a.W, a.H, b.Dx(), b.Dy())
	}
	out := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(out, out.Bounds(), whole, part.Min, draw.Src)
	var buf bytes.Buffer
	if err := png.Encode(&buf, out); err != nil {
		return Seen{}, fmt.Errorf("cut %s: %w", a.Path, err)
	}
	seen.Image, seen.MIME = buf.Bytes(), "image/png"
	return seen, nil
}
