// Command helper is the confining program on its own, small enough to be started before every command.
package main

import (
	"os"

	"interpreter/sandbox/helper"
)

func main() { os.Exit(helper.Main()) }
