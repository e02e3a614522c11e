// Package quiet keeps a library from talking to the terminal before the program does. Bubble Tea, when it is merely
// linked in, asks the terminal for its background at every start of every command, waits up to five seconds for an
// answer and eats what was typed meanwhile. It does not ask where it believes that nobody looks at the terminal, which
// the variable CI says; so CI is set here and main takes it back. It refuses to do anything else.
//
// Nothing but os may be imported here: the path of the package sorts before os/signal, which Bubble Tea waits for, and
// so Go initialises it earlier.
package quiet

import "os"

var before, was = os.LookupEnv("CI")

func init() { os.Setenv("CI", "1") }

// Restore puts the variable back as the program was given it. main does so first, before anything reads the environment.
func Restore() {
	if was {
		os.Setenv("CI", before)
		return
	}
	os.Unsetenv("CI")
}
