package local

import (
	"fmt"
	"time"
)

// Verdict is the outcome of a tool check.
type Verdict string

// The verdicts. A model is handed over with any but Failed.
const (
	Native   Verdict = "native"   // calls arrive as calls
	Rescued  Verdict = "rescued"  // calls arrive as text that the harness can read
	Spoken   Verdict = "spoken"   // calls are text, as the harness asks for them
	Skipped  Verdict = "skipped"  // not asked for
	NotKnown Verdict = "unproven" // the model was too slow to tell
	Failed   Verdict = "none"     // it does not call tools in a way that anything here can read
)

// passed reports whether a verdict is a proof.
func (v Verdict) passed() bool { return v == Native || v == Rescued || v == Spoken }

// Report is what a tool check found, by stage in the order they were made: what the server declares, what the chat
// template shows, and what the model did. Prefill and Decode are tokens read and written in a second as the server
// measured them, 0 when it did not.
type Report struct {
	Verdict Verdict       `json:"verdict"`
	Stages  []StageReport `json:"stages,omitempty"`
	Notes   []string      `json:"notes,omitempty"` // what is known to go wrong with such a model, and what went wrong at first
	Alone   bool          `json:"alone,omitempty"` // asked outside the session's opening, which would have taken too long to read
	Prefill float64       `json:"prefill,omitempty"`
	Decode  float64       `json:"decode,omitempty"`
	Took    time.Duration `json:"took"` // nanoseconds
	When    time.Time     `json:"when"` // it was made; earlier than this run when the verdict was kept
}

// StageReport is one stage of a tool check: "declared", "inspected", "call", "result", "payload" or "no call". A stage
// that was left out for want of time has Ran false.
type StageReport struct {
	Name   string        `json:"name"`
	Sent   string        `json:"sent,omitempty"`
	Got    string        `json:"got,omitempty"`
	Passed bool          `json:"passed"`
	Ran    bool          `json:"ran"`
	Took   time.Duration `json:"took,omitempty"` // nanoseconds
}

// stage finds a stage by name, nil when the report has none.
func (r *Report) stage(name string) *StageReport {
	for i := range r.Stages {
		if r.Stages[i].Name == name {
			return &r.Stages[i]
		}
	}
	return nil
}

// put adds a stage, or replaces the one of an earlier try.
func (r *Report) put(s StageReport) {
	if old := r.stage(s.Name); old != nil {
		s.Took += old.Took
		*old = s
		return
	}
	r.Stages = append(r.Stages, s)
}

// Rates says how fast the model read and wrote during the check, "" when the server did not measure it.
func (r Report) Rates() string {
	switch {
	case r.Prefill > 0 && r.Decode > 0:
		return fmt.Sprintf("it read %s and wrote %s tokens a second", inASecond(r.Prefill), inASecond(r.Decode))
	case r.Decode > 0:
		return fmt.Sprintf("it wrote %s tokens a second", inASecond(r.Decode))
	case r.Prefill > 0:
		return fmt.Sprintf("it read %s tokens a second", inASecond(r.Prefill))
	}
	return ""
}

func inASecond(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// A CheckError says what a model was asked in the tool check and what came back instead.
type CheckError struct {
	Model  string
	Sent   string
	Got    string
	Report Report // of all stages until then
	Err    error  // when the server refused
}

func (e *CheckError) Error() string {
	text := fmt.Sprintf("asked: %s; came back: %s", e.Sent, e.Got)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *CheckError) Unwrap() error { return e.Err }
