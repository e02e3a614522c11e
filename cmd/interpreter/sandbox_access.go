package main

import (
	"fmt"

	"interpreter/sandbox"
)

// removeAccess takes back what the sandbox of Windows put into the access lists of folders. A session that is running
// meanwhile loses its writable folders with it, until its next command.
func removeAccess(w world, f *flags) error {
	at, err := w.folders(f.cd)
	if err != nil {
		return err
	}
	places, err := sandbox.RemoveAccess(at.home)
	for _, place := range places {
		fmt.Fprintln(w.stdout, harmless(place))
	}
	if err != nil {
		return err
	}
	if len(places) == 0 {
		_, err = fmt.Fprintln(w.stdout, "no folder carries rights of commands")
	}
	return err
}
