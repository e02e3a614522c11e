package main

import "os"

// writable reports whether files can be made in a folder. The system can tell only by one that is made, and goes at once.
func writable(folder string) error {
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	file.Close()
	return os.Remove(file.Name())
}
