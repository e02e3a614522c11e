package action

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

const (
	recordHalf  = 256 << 10 // bytes kept of the start and of the end of an output
	spillMost   = 64 << 20  // bytes of a file with a whole output
	signalsMost = 200       // lines kept that tell what went wrong
	signalBytes = 500       // of such a line
	lookMost    = 1 << 20   // lines looked at for them
	recentBytes = 2 << 10
)

// record takes down what a command prints: cleaned, bounded in memory, whole in a file once it grows.
type record struct {
	mu      sync.Mutex
	clean   cleaner
	dir     string // for the file; "" keeps none
	file    *os.File
	name    string
	filed   int64
	full    bool // the file has reached its bound, or failed
	page    page
	lines   int    // complete lines so far, all pages
	recent  string // the last words
	unheard strings.Builder
	news    chan struct{} // something is unheard
}

// page is the output since the last report.
type page struct {
	first   int // line before its first one
	head    []byte
	tail    []byte
	omitted int64
	bytes   int64
	lines   int
	signals []signalLine // from anywhere in it
}

type signalLine struct {
	number int
	text   string
	at     int64 // offset in the page
}

func newRecord(dir string) *record { return &record{dir: dir, news: make(chan struct{}, 1)} }

// watch takes a chunk as it comes.
func (r *record) watch(chunk []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(r.clean.feed(chunk))
}

// signalLines tell what went wrong, or how a test run ended.
var signalLines = regexp.MustCompile(`(?i:\berror\b|\bfailed\b|\bfatal\b|\bexception\b|\bwarning\b)|\bFAIL\b|^panic:|^Traceback|[\w./\\-]+\.\w+:\d+:|^ok\s|^\d+ (?:passed|failed)|^=+ .* in [\d.]+s`)

func (r *record) add(text string) {
	if text == "" {
		return
	}
	r.look(text)
	r.page.keep(text)
	n := strings.Count(text, "\n")
	r.lines += n
	r.page.lines += n
	r.recent = lastBytes(r.recent+lastBytes(text, recentBytes), recentBytes)
	r.spill(text)
	r.unheard.WriteString(text)
	if r.unheard.Len() > recordHalf { // nobody listens, or not fast enough
		kept := lastBytes(r.unheard.String(), recordHalf/2)
		r.unheard.Reset()
		r.unheard.WriteString(kept)
	}
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// look notes the lines that tell something. In an endless output it gives up: the first ones matter most.
func (r *record) look(text string) {
	at, number := r.page.bytes, r.lines
	for line := range strings.Lines(text) {
		number++
		if number > lookMost || len(r.page.signals) >= signalsMost {
			return
		}
		if len(line) < 4096 && mayTell(line) && signalLines.MatchString(line) {
			text := cutRunes(strings.TrimRight(line, "\n"), signalBytes)
			r.page.signals = append(r.page.signals, signalLine{number, text, at})
		}
		at += int64(len(line))
	}
}

// mayTell spares most lines the pattern.
func mayTell(line string) bool {
	for _, s := range []string{":", "rror", "RROR", "ail", "AIL", "atal", "xception", "arn", "ARN", "raceback", "ok", "passed", "=="} {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

func (p *page) keep(text string) {
	p.bytes += int64(len(text))
	room := min(recordHalf-len(p.head), len(text))
	p.head = append(p.head, text[:room]...)
	p.tail = append(p.tail, text[room:]...)
	if extra := len(p.tail) - recordHalf; extra > recordHalf {
		p.omitted += int64(extra)
		p.tail = append(p.tail[:0], p.tail[extra:]...)
	}
}

// spill appends to the file; it is begun when memory no longer holds everything.
func (r *record) spill(text string) {
	if r.file == nil && (r.dir == "" || r.full || r.page.bytes < recordHalf) {
		return
	}
	if r.file == nil {
		if r.open() != nil {
			r.full = true
			return
		}
		text = string(r.page.head) + string(r.page.tail)
	}
	if r.full {
		return
	}
	if r.filed+int64(len(text)) > spillMost {
		r.full = true
		text = "\n(the rest was not kept)\n"
	}
	n, err := r.file.WriteString(text)
	r.filed += int64(n)
	r.full = r.full || err != nil
}

// open begins the file that holds everything. Only its owner may read it.
func (r *record) open() error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(r.dir, "output-"+strings.ToLower(rand.Text()[:10])+".txt")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	r.file, r.name = f, name
	return nil
}

// hear gives what was printed since it was last asked.
func (r *record) hear() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.unheard.String()
	r.unheard.Reset()
	return text
}

// turn ends the page and gives it within limit bytes. One of more lines than most, unless that is 0, is kept in the
// file too. ended says that nothing more will come.
func (r *record) turn(limit, most int, ended bool) (text string, p page, full string, gap *Gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended {
		r.add(r.clean.last())
	} else {
		r.add(r.clean.flush())
	}
	p = r.page
	limit = min(limit, recordHalf)
	fits := p.bytes <= int64(limit) && p.omitted == 0
	keep := !fits || most > 0 && p.lines > most
	if keep && r.file == nil && r.dir != "" && p.omitted == 0 && r.open() == nil {
		n, err := r.file.WriteString(string(p.head) + string(p.tail))
		r.filed, r.full = int64(n), err != nil
	}
	if keep {
		full = r.name
	}
	text, gap = p.within(limit, full)
	r.page = page{first: r.lines}
	return text, p, full, gap
}

// close ends the file; one that nobody was told of goes.
func (r *record) close(told bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		r.file.Close()
		if !told {
			os.Remove(r.name)
		}
	}
}

func (r *record) lately() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recent
}

// ending gives the last words of a stream that has ended, with what was held back of a line.
func (r *record) ending(most int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(r.clean.last())
	return lastBytes(r.recent, most)
}

// within gives the page whole, or the first quarter of limit, three fifths from the end, and between them a mark and
// the lines that tell what went wrong, with their numbers.
func (p *page) within(limit int, full string) (string, *Gap) {
	all := len(p.head) + len(p.tail)
	if p.omitted == 0 && all <= limit {
		return string(p.head) + string(p.tail), nil
	}
	start, end := string(p.head), string(p.tail)
	if p.omitted == 0 {
		start += end
		end = start
	}
	head := wholeLines(cutRunes(start, limit/4), true)
	last := lastBytes(end, limit*3/5)
	tail := wholeLines(last, false)
	from, to := int64(len(head)), p.bytes-int64(len(tail))
	total := p.first + p.lines
	if !strings.HasSuffix(end, "\n") {
		total++
	}
	lastLine := total - len(splitLines(tail))
	if len(tail) == len(last) { // it begins within a line
		lastLine++
	}
	var b strings.Builder
	b.WriteString(head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	gap := &Gap{At: b.Len(), Bytes: to - from, First: p.first + strings.Count(head, "\n") + 1, Last: lastLine, Total: total}
	fmt.Fprintf(&b, "… %d of %d bytes left out here, lines %d to %d of %d", gap.Bytes, p.bytes, gap.First, gap.Last, gap.Total)
	if full != "" {
		fmt.Fprintf(&b, "; all of it is in %s", full)
	}
	b.WriteString(" …\n")
	gap.Mark = b.Len() - gap.At
	room := limit * 15 / 100
	for _, s := range p.signals {
		if s.at < from || s.at >= to {
			continue
		}
		line := fmt.Sprintf("%d: %s\n", s.number, s.text)
		if room -= len(line); room < 0 {
			break
		}
		b.WriteString(line)
	}
	b.WriteString(tail)
	return b.String(), gap
}

// wholeLines drops the broken line at the end, or at the start, unless there is little else.
func wholeLines(text string, fromStart bool) string {
	if fromStart {
		if i := strings.LastIndexByte(text, '\n'); i > len(text)/2 {
			return text[:i+1]
		}
		return text
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)/2 {
		return text[i+1:]
	}
	return text
}

// lastBytes is the longest end of text that has at most n bytes and begins with a letter.
func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for i := range min(4, len(text)) {
		if text[i]&0xc0 != 0x80 {
			return text[i:]
		}
	}
	return text
}
