package claudecode

import "interpreter/harness"

func read(p harness.ReadParams) (harness.Step, error) {
	return p.Step(p.Action(), harness.ByteTokens, harness.ReadWords, func(err error) string { return fault("Read", err) }), nil
}
