package main

import (
	"fmt"
	"net/http"
	"os"

	"interpreter/local/chat"
)

// mostImage bounds one attached picture.
const mostImage = 20 << 20

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
			images = append(images, chat.Image{MIME: mime, Data: data})
		default:
			return nil, fmt.Errorf("--image %s: %s is no picture a model takes; want PNG, JPEG, GIF or WebP", path, mime)
		}
	}
	return images, nil
}
