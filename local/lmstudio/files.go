package lmstudio

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"interpreter/local"
)

// shard is the end of the name of a model's file that is one of several.
var shard = regexp.MustCompile(`-(\d{5})-of-(\d{5})\.gguf$`)

// header reads the header of the model whose files have so many bytes. The list tells no path, but the sum of the
// sizes is as good as one; false when none fits, or when several do.
func (p *Provider) header(size int64) (local.ModelInfo, bool) {
	if p.options.Files == "" || size <= 0 {
		return local.ModelInfo{}, false
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	known, ok := p.headers[size]
	if !ok {
		if path := fileOf(p.options.Files, size); path != "" {
			known, _ = local.ReadGGUF(path) // an unreadable one tells nothing
		}
		p.headers[size] = known
	}
	return known, known.Geometry.Known() || known.Geometry.Partial
}

// fileOf finds the first file of the one model below a folder whose files have so many bytes, with or without the
// file that lets it see; "" when there is none or more than one.
func fileOf(folder string, size int64) string {
	sums, first := map[string]int64{}, map[string]string{} // by the name without its number
	eyes := map[string]int64{}                             // by folder
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".gguf") {
			return nil // what cannot be read is as good as absent
		}
		info, err := os.Stat(path) // some keep their models behind links
		if err != nil {
			return nil
		}
		if strings.Contains(strings.ToLower(d.Name()), "mmproj") {
			eyes[filepath.Dir(path)] += info.Size()
			return nil
		}
		model := shard.ReplaceAllString(path, ".gguf")
		sums[model] += info.Size()
		if m := shard.FindStringSubmatch(path); m == nil || m[1] == "00001" {
			first[model] = path
		}
		return nil
	})
	found := ""
	for model, sum := range sums {
		if sum != size && sum+eyes[filepath.Dir(model)] != size || first[model] == "" {
			continue
		}
		if found != "" && filepath.Base(first[model]) != filepath.Base(found) {
			return ""
		}
		found = max(found, first[model])
	}
	return found
}
