package kimicli

import (
	"errors"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func fault(tool string, err error) string {
	if tool == "AskUserQuestion" && errors.Is(err, action.ErrNobody) {
		return harness.Unanswered("Nobody can be asked in this session. Decide by yourself and say what you assumed.")
	}
	return harness.ErrorFirst(tool, err, "old", "replace_all", "ReadFile")
}
