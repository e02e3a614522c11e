package harness

import (
	"time"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Turn is what Wrap may say of the turn that a prompt begins.
type Turn struct {
	Number int       // 1 is the first of the session
	Now    time.Time // when it began
	Paths  []string  // files touched in earlier turns, latest first, at most eight, as the model spelled them
}

// Pause is an answer without a call, and what the turn has done until then.
type Pause struct {
	Message     chat.Message
	Finish      chat.Finish
	Asked       string            // what the person wanted of this turn
	Why         string            // what EarlyStop makes of it, for people; "" when it is an end
	Calls       int               // carried out in this turn
	Open        []action.PlanItem // steps of the plan that are not completed, when this turn wrote the plan
	Offered     []string          // names of the tools
	Interactive bool
}

// Progress is where the work stands when a result is about to be given to the model.
type Progress struct {
	Tool    string            // the row that was called
	Idle    int               // results of other tools since the plan was last written or looked at, or a reminder of it came
	Answers int               // answers with calls since then
	Again   bool              // a reminder of the plan came since it was last written or looked at
	Plan    []action.PlanItem // as it is now; nil when there never was one
	Touched []string          // files read before that changed on disk since, and of which the model was not told
}

// Repeated is a call that came before.
type Repeated struct {
	Tool string
	Args string // canonical JSON
	Row  int    // how often in a row, this one included
	Ran  bool   // it was carried out; else it was answered without
}
