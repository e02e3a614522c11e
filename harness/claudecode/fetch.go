package claudecode

import (
	"interpreter/harness"
	"interpreter/sandbox/action"
)

// pageMost bounds a page, in bytes: about 8000 tokens.
const pageMost = 32_000

func fetch(p harness.FetchParams) action.Fetch { return p.Action(pageMost) }
