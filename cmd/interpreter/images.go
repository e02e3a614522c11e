package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // so that one that is too large can be read
	"image/jpeg"
	"image/png"
	"net/http"
	"os"

	"interpreter/local/chat"
)

// The bounds of one attached picture: of its file, of its points, and of the longer side that is sent. Models see no
// more than that, and a local one pays for every point.
const (
	mostImage   = 20 << 20
	mostPoints  = 100_000_000
	longestSide = 2048
)

// readImages reads the files of --image.
func readImages(paths []string) ([]chat.Image, error) {
	var images []chat.Image
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("--image: %w", err)
		}
		if info.Size() > mostImage {
			return nil, fmt.Errorf("--image %s: %d MB, at most %d are sent", path, info.Size()>>20, mostImage>>20)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--image: %w", err)
		}
		switch mime := http.DetectContentType(data); mime {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			one, err := shrunk(chat.Image{MIME: mime, Data: data})
			if err != nil {
				return nil, fmt.Errorf("--image %s: %w", path, err)
			}
			images = append(images, one)
		default:
			return nil, fmt.Errorf("--image %s: %s is no picture a model takes; want PNG, JPEG, GIF or WebP", path, mime)
		}
	}
	return images, nil
}

// shrunk brings a picture down to the size that is sent. What cannot be read here (WebP, or a file that is damaged) is
// the server's to judge.
func shrunk(one chat.Image) (chat.Image, error) {
	size, _, err := image.DecodeConfig(bytes.NewReader(one.Data))
	if err != nil || max(size.Width, size.Height) <= longestSide {
		return one, nil
	}
	if size.Width*size.Height > mostPoints {
		return one, fmt.Errorf("%d by %d points are too many; make it smaller", size.Width, size.Height)
	}
	whole, _, err := image.Decode(bytes.NewReader(one.Data))
	if err != nil {
		return one, nil
	}
	small := scaled(whole, longestSide)
	var out bytes.Buffer
	if one.MIME == "image/jpeg" {
		err = jpeg.Encode(&out, small, &jpeg.Options{Quality: 90})
	} else {
		one.MIME, err = "image/png", png.Encode(&out, small)
	}
	one.Data = out.Bytes()
	return one, err
}

// scaled makes the longer side so long; each point is the mean of those it stands for.
func scaled(from image.Image, longer int) image.Image {
	b := from.Bounds()
	most := max(b.Dx(), b.Dy())
	width, height := max(b.Dx()*longer/most, 1), max(b.Dy()*longer/most, 1)
	to := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		top, bottom := y*b.Dy()/height, max((y+1)*b.Dy()/height, y*b.Dy()/height+1)
		for x := range width {
			left, right := x*b.Dx()/width, max((x+1)*b.Dx()/width, x*b.Dx()/width+1)
			var r, g, bl, a, n uint64
			for v := top; v < bottom; v++ {
				for u := left; u < right; u++ {
					pr, pg, pb, pa := from.At(b.Min.X+u, b.Min.Y+v).RGBA()
					r, g, bl, a, n = r+uint64(pr), g+uint64(pg), bl+uint64(pb), a+uint64(pa), n+1
				}
			}
			to.Set(x, y, color.RGBA64{uint16(r / n), uint16(g / n), uint16(bl / n), uint16(a / n)})
		}
	}
	return to
}
