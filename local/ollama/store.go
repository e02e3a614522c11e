package ollama

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"interpreter/local"
)

// Of the folder of models: the owner that a name leaves out, and the layers that are the model itself.
const (
	usualOwner     = "library"
	modelLayer     = "application/vnd.ollama.image.model"
	projectorLayer = "application/vnd.ollama.image.projector"
	mostManifest   = 1 << 20
)

// A StoredModel is one in a server's folder, found without the server.
type StoredModel struct {
	Name string
	Size int64  // bytes of all its files
	Path string // of its GGUF file

	projector int64 // bytes of the file that lets it see, part of Size
}

// Info reads what its file tells.
func (m StoredModel) Info() (local.ModelInfo, error) {
	info, err := local.ReadGGUF(m.Path)
	if err != nil {
		return info, fmt.Errorf("look at %s: %w", m.Name, err)
	}
	info.Name, info.Provider, info.Size, info.Projector = m.Name, "ollama", m.Size, m.projector
	return info, nil
}

// Stored lists the models in a server's folder, for when no server runs. The layout is that of Ollama's own store: a
// manifest at manifests/HOST/OWNER/MODEL/TAG names blobs by their digest. Stubs of models that run elsewhere, and
// models in other formats than GGUF, are left out; so is what cannot be read.
func Stored(folder string) []StoredModel {
	var found []StoredModel
	root := os.DirFS(folder)
	_ = fs.WalkDir(root, "manifests", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if parts := strings.Split(at, "/"); !d.IsDir() && len(parts) == 5 {
			if m, ok := stored(root, folder, at); ok {
				m.Name = nameOf(root, parts[1], parts[2], parts[3], parts[4])
				found = append(found, m)
			}
		}
		return nil
	})
	return found
}

// stored reads a manifest.
func stored(root fs.FS, folder, at string) (StoredModel, bool) {
	if info, err := fs.Stat(root, at); err != nil || info.Size() > mostManifest {
		return StoredModel{}, false
	}
	text, err := fs.ReadFile(root, at)
	if err != nil {
		return StoredModel{}, false
	}
	var manifest struct {
		Layers []struct {
			Type   string `json:"mediaType"`
			Digest string `json:"digest"`
			Size   int64  `json:"size"`
		} `json:"layers"`
	}
	if json.Unmarshal(text, &manifest) != nil {
		return StoredModel{}, false
	}
	var m StoredModel
	for _, layer := range manifest.Layers {
		m.Size += layer.Size
		if layer.Type == projectorLayer {
			m.projector += layer.Size
		}
		if layer.Type == modelLayer && m.Path == "" {
			blob := path.Join("blobs", strings.ReplaceAll(layer.Digest, ":", "-"))
			if _, err := fs.Stat(root, blob); err == nil { // a name that leads out of the folder is none
				m.Path = filepath.Join(folder, filepath.FromSlash(blob))
			}
		}
	}
	return m, m.Path != ""
}

// nameOf is the name that a person and the server use. The host that it leaves out is the one where the usual owner
// has models; whatever comes from another is called by all of its name.
func nameOf(root fs.FS, host, owner, model, tag string) string {
	name := model + ":" + tag
	if owner == usualOwner {
		return name
	}
	if info, err := fs.Stat(root, path.Join("manifests", host, usualOwner)); err != nil || !info.IsDir() {
		return host + "/" + owner + "/" + name
	}
	return owner + "/" + name
}
