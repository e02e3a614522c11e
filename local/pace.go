package local

import (
	"time"

	"interpreter/local/chat"
)

// limit is three times what a request takes at the model's own speed, and never less than 20 seconds; 0 when the speed
// is not known. What the opening costs counts with the first request alone.
func (c *checker) limit(req chat.Request) time.Duration {
	prefill, decode := c.prefill, c.decode
	if c.report.Prefill > 0 {
		prefill = c.report.Prefill
	}
	if c.report.Decode > 0 {
		decode = c.report.Decode
	}
	if prefill <= 0 || decode <= 0 {
		return 0
	}
	read := 500.0 // the question, the results and the tools of the check
	if c.requests == 0 {
		read = float64(Prefix{Messages: req.Messages, Tools: req.Tools}.tokens())
	}
	seconds := read/prefill + float64(req.Output)/decode
	least := c.least
	if least == 0 {
		least = 20 * time.Second
	}
	return max(least, time.Duration(3*seconds*float64(time.Second)))
}

// bytesPerToken is the usual size of a token in prose and JSON.
const bytesPerToken = 3.6

// Tokens estimates how many tokens so many bytes of prose and JSON are.
func Tokens(bytes int) int { return int(float64(bytes) / bytesPerToken) }

// tokens estimates the size of a prefix.
func (p Prefix) tokens() int {
	size := 0
	for _, m := range p.Messages {
		size += len(m.Text) + len(m.Thinking)
	}
	for _, t := range p.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return Tokens(size)
}

// measure learns the speed of the model from what the server counted. Only the first request tells how fast prompts
// are read: what the server has in its memory of the later ones it counts as read all the same.
func (c *checker) measure(u chat.Usage) {
	if c.wrote, c.writing = c.wrote+u.Output, c.writing+u.Decode; c.wrote >= 8 && c.writing > 0 {
		c.report.Decode = float64(c.wrote) / c.writing.Seconds()
	}
	read := u.Input - u.CachedInput
	if (c.requests == 1 && c.fresh || u.CachedInput > 0) && c.report.Prefill == 0 && read >= 64 && u.Prefill >= 100*time.Millisecond {
		c.report.Prefill = float64(read) / u.Prefill.Seconds()
	}
}
