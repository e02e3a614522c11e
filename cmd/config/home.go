package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// HomeVariable names the environment variable that moves the home folder.
const HomeVariable = "INTERPRETER_HOME"

// Home finds the folder that holds everything of ours. A folder named by the variable must exist; the usual one below
// the person's home need not.
func Home(env func(string) string, userHome string) (string, error) {
	chosen := env(HomeVariable)
	if chosen == "" {
		if userHome == "" {
			return "", fmt.Errorf("find the home folder: neither %s nor a user home is known", HomeVariable)
		}
		return filepath.Join(userHome, ".openinterpreter"), nil
	}
	info, err := os.Stat(chosen)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("%s=%s: there is no such directory", HomeVariable, chosen)
	case err != nil:
		return "", fmt.Errorf("%s=%s: %w", HomeVariable, chosen, err)
	case !info.IsDir():
		return "", fmt.Errorf("%s=%s: it is a file, not a directory", HomeVariable, chosen)
	}
	absolute, err := filepath.Abs(chosen)
	if err != nil {
		return "", fmt.Errorf("%s=%s: %w", HomeVariable, chosen, err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", fmt.Errorf("%s=%s: %w", HomeVariable, chosen, err)
	}
	return real, nil
}

// expand makes a path absolute: ~ is the person's home, anything relative starts at dir.
func expand(path, dir, userHome string) string {
	switch {
	case path == "":
		return ""
	case path == "~" && userHome != "":
		return userHome
	case userHome != "" && (strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~`+string(filepath.Separator))):
		return filepath.Join(userHome, path[2:])
	case filepath.IsAbs(path) || dir == "":
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
