package sandbox

import "errors"

func openTerminal() (*streams, error) {
	return nil, errors.New("there are no pseudo terminals on this system yet")
}
