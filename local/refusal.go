package local

// Code says why a wish was refused.
type Code string

// The reasons.
const (
	NoServer     Code = "no-server"
	NotInstalled Code = "not-installed"
	NoModel      Code = "no-model"
	Elsewhere    Code = "elsewhere" // it would run on another machine
	NoTools      Code = "no-tools"
	TooShort     Code = "context-too-short"
	TooBig       Code = "does-not-fit"
	TooSlow      Code = "too-slow"
	Damaged      Code = "damaged" // a file that is no model, or not the whole of one
	Unproven     Code = "tool-check-failed"
	PullFailed   Code = "pull-failed"
	WrongWindow  Code = "wrong-window"
	InUse        Code = "in-use" // another program has loaded it, or what would have to go for it
	TooOld       Code = "server-too-old"
	NoPull       Code = "cannot-pull" // the server has no downloads
	NoDisk       Code = "no-disk"
	NoMemory     Code = "out-of-memory" // of the server while it loaded, whatever was tried
)

// A Refusal is a wish that cannot be met as things are. Needed and Available are the two numbers of a limit, tokens
// for a window and bytes for memory; Try is what a person can do.
type Refusal struct {
	Code      Code
	Model     string
	Text      string
	Try       string
	Needed    int64
	Available int64
	Err       error
}

func (r *Refusal) Error() string {
	if r.Err != nil {
		return r.Text + ": " + r.Err.Error()
	}
	return r.Text
}

func (r *Refusal) Unwrap() error { return r.Err }

// Remedy is what a person can do.
func (r *Refusal) Remedy() string { return r.Try }
