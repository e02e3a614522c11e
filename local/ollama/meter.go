package ollama

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"interpreter/local/chat"
)

// The server has no tokenizer to ask, so prompts are measured in bytes. bytesPerToken is what source code takes before
// an answer has taught better; what it teaches is believed between the other two.
const (
	bytesPerToken = 3.6
	leastBytes    = 1.5
	mostBytes     = 6
	imageTokens   = 1024 // of one picture, a guess on the high side for most models
	leastAnswer   = 128  // tokens that an answer is given however full the window seems
)

// The time that the load of a warm model must not take, by the server's own word: half a second, or for a small model
// half of what its first load took, as long as that can be told from a busy machine.
const (
	longLoad  = 500 * time.Millisecond
	shortLoad = 150 * time.Millisecond
)

// enoughWhole are the counts of whole prompts after which a server is taken to count nothing else.
const enoughWhole = 3

// span is a part of a body.
type span struct{ from, to int }

// meter is what the answers of a session have taught about how its model counts.
type meter struct {
	lock     sync.Mutex
	perToken float64 // bytes; 0: not measured
	last     time.Time
	loaded   time.Duration // what its first load took
	warned   bool          // of a reload

	prompt prompt // the latest that was counted
	whole  int    // how often the count of a little more can only have been that of the whole prompt
}

// prompt is one that the server has counted.
type prompt struct {
	length int // bytes of its messages
	sum    [sha256.Size]byte
	tools  int
	tokens int
	spare  int // tokens at most that a template may leave out of it later: thoughts
}

// began notes what the first load took, and when it was done.
func (m *meter) began(at time.Time, took time.Duration) {
	m.lock.Lock()
	m.last, m.loaded = at, took
	m.lock.Unlock()
}

// room is how many tokens an answer may have so that it and a prompt of this size stay within a window.
func (m *meter) room(window, size int, pictures []chat.Image) int {
	m.lock.Lock()
	defer m.lock.Unlock()
	per := m.perToken
	if per == 0 {
		per = bytesPerToken
	}
	read := float64(textSize(size, pictures))/per*1.1 + float64(len(pictures)*imageTokens)
	return max(window-int(read), leastAnswer)
}

// textSize is the bytes of a body without its pictures, which are base64.
func textSize(size int, pictures []chat.Image) int {
	for _, p := range pictures {
		size -= (len(p.Data) + 2) / 3 * 4
	}
	return max(size, 0)
}

func images(req chat.Request) (all []chat.Image) {
	for _, m := range req.Messages {
		all = append(all, m.Images...)
	}
	return all
}

// judge looks at what the server says of a finished answer. A model that was loaded again while it was in use is news
// for the person, once; one that has a smaller window since is an error, and so is a prompt that was cut.
func (m *model) judge(ctx context.Context, req chat.Request, body []byte, messages span, u chat.Usage) (notice string, err error) {
	now := m.provider.now()
	again := m.meter.reloadedBy(u.Load, now, m.provider.keep)
	if cut := m.meter.count(req, body, messages, u.Input); cut > 0 {
		return "", &chat.Error{
			Kind: chat.Overflow, Model: m.info.Name, Prompt: cut, Window: u.Input,
			Detail: fmt.Sprintf("the server read %d tokens of a prompt of at least %d: it cuts prompts in silence", u.Input, cut),
			Remedy: fmt.Sprintf("update the server, which read only %d of at least %d tokens, or end other programs that load this model with a smaller window", u.Input, cut),
		}
	}
	if !again || m.how.Remote {
		return "", nil
	}
	// A list that cannot be had says nothing about the answer, which has come.
	if loaded, err := m.provider.Loaded(ctx); err == nil {
		for _, have := range loaded {
			if have.Digest == m.info.Digest && have.Window > 0 && have.Window < m.window {
				return "", &chat.Error{
					Kind: chat.Invalid, Model: m.info.Name,
					Detail: fmt.Sprintf("the server has loaded it again, with a window of %d tokens; this session uses %d", have.Window, m.window),
					Remedy: fmt.Sprintf("end the other program that uses it, or start the server with OLLAMA_CONTEXT_LENGTH=%d for all", m.window),
				}
			}
		}
	}
	if !m.meter.warn() {
		return "", nil
	}
	return fmt.Sprintf("%s was loaded again in the middle of the session (%.1f s): another program asks for it with other options, or for another model, and each change costs what the server has read",
		m.info.Name, u.Load.Seconds()), nil
}

// reloadedBy reports a load that a model in use should not have needed. After a pause longer than keep the server had
// every right to unload it; a negative keep is for ever.
func (m *meter) reloadedBy(load time.Duration, now time.Time, keep time.Duration) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	warm := !m.last.IsZero() && (keep < 0 || now.Sub(m.last) < keep)
	m.last = now
	limit := longLoad
	if m.loaded > 2*shortLoad {
		limit = min(limit, m.loaded/2)
	}
	return warm && load > limit
}

// warn reports the first time only.
func (m *meter) warn() bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	first := !m.warned
	m.warned = true
	return first
}

// count learns from the tokens that the server counted in a prompt. It accuses only when there is no other explanation:
// the prompt begins with every byte of the one before, this server has been seen to count what it has cached, and it
// now counts less than half of the prompt before, thoughts that a template may drop left out. Then it returns the
// tokens that there must have been at least.
func (m *meter) count(req chat.Request, body []byte, messages span, tokens int) int {
	if tokens <= 0 {
		return 0
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	pictures := images(req)
	size := textSize(len(body), pictures)
	if tokens >= 64 && len(pictures) == 0 {
		m.perToken = min(max(float64(size)/float64(tokens), leastBytes), mostBytes)
	}
	said := body[messages.from:messages.to]
	before := m.prompt
	longer := before.length > 0 && len(said) > before.length && len(req.Tools) == before.tools &&
		sha256.Sum256(said[:before.length]) == before.sum
	surely := before.tokens - before.spare
	if longer && m.whole >= enoughWhole && surely >= 1024 && tokens < surely/2 {
		return surely
	}
	// What was added is less than an eighth of the prompt, and a token is a byte at least: a server that leaves out what
	// it has cached would have counted less.
	if longer && len(said)-before.length < size/8 && tokens >= size/8 && tokens >= before.tokens {
		m.whole++
	}
	if len(pictures) > 0 {
		m.prompt = prompt{}
		return 0
	}
	m.prompt = prompt{length: len(said), sum: sha256.Sum256(said), tools: len(req.Tools), tokens: tokens}
	for _, message := range req.Messages {
		m.prompt.spare += len(message.Thinking)
	}
	return 0
}

// keepFor reads a keep_alive as the server does: a number is seconds, a text a duration; below zero is for ever.
func keepFor(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	var seconds float64
	if _, err := fmt.Sscan(text, &seconds); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	return 0
}
