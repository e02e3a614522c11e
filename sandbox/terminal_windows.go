package sandbox

import "os"

// openTerminal makes the pipes between us and a pseudo console. The console itself is made with the process.
func openTerminal(Command) (*streams, error) {
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, outChild, err := os.Pipe()
	if err != nil {
		in.Close()
		ours.Close()
		return nil, err
	}
	return &streams{child: []*os.File{in, outChild, outChild}, own: []*os.File{in, outChild}, out: out, in: ours}, nil
}
