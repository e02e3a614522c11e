package exec

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"interpreter/local"
)

// A Download shows how a download goes: how much of how much, how fast, and how long still. On a terminal it is a bar
// in one line, elsewhere a line for each tenth.
type Download struct {
	Out      io.Writer
	Terminal bool
	Now      func() time.Time // time.Now unless a test says otherwise

	marks []mark
	bar   *progressbar.ProgressBar
	total int64
	tenth int64
	stage string
}

// mark is how far a download was at a time.
type mark struct {
	at   time.Time
	done int64
}

// What the speed is measured over, and from when on it means something.
const (
	lately    = 15 * time.Second
	longAgo   = time.Second
	barColumn = 24
)

// Show tells how far it is. It is called as often as there are news.
func (d *Download) Show(p local.Progress) {
	if p.Total <= 0 {
		d.step(p.Stage)
		return
	}
	p.Done = min(max(p.Done, 0), p.Total)
	if p.Done == p.Total && p.Stage != "" && !strings.HasPrefix(p.Stage, "pulling") && p.Stage != d.stage {
		d.stage = p.Stage
		if d.Terminal && d.bar != nil {
			d.bar.Describe(strict(p.Stage))
			_ = d.bar.Set64(p.Done)
		}
		return
	}
	text := d.text(p)
	part := p.Done * 10 / p.Total
	if d.total != p.Total { // another part of it has come into sight
		d.total, d.tenth = p.Total, min(d.tenth, part)
	}
	if d.Terminal {
		d.draw(p, text)
		return
	}
	if part > d.tenth || d.stage == "" {
		d.tenth, d.stage = part, p.Stage
		d.line(fmt.Sprintf("%d %% of %s", p.Done*100/p.Total, text))
	}
}

// step tells of what has no size, once.
func (d *Download) step(stage string) {
	if stage == "" || stage == d.stage || strings.HasPrefix(stage, "pulling ") && !strings.HasSuffix(stage, "manifest") {
		return
	}
	d.stage = stage
	if d.Terminal && d.bar == nil {
		_, _ = io.WriteString(d.Out, "\r"+strict(stage)+"\x1b[K")
	}
}

func (d *Download) line(text string) {
	_, _ = io.WriteString(d.Out, fmt.Sprintf("%-5s %s\n", "pull", text))
}

// text is the numbers. The speed is that of the last seconds, so that what was there before does not count.
func (d *Download) text(p local.Progress) string {
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	at := now()
	if n := len(d.marks); n > 0 && p.Done < d.marks[n-1].done { // a part is fetched again
		d.marks = nil
	}
	d.marks = append(d.marks, mark{at, p.Done})
	for len(d.marks) > 2 && at.Sub(d.marks[1].at) >= lately {
		d.marks = d.marks[1:]
	}
	text := size(p.Total)
	if d.Terminal {
		text = of(p.Done, p.Total)
	}
	first := d.marks[0]
	if span := at.Sub(first.at); span >= longAgo && p.Done < p.Total {
		speed := float64(p.Done-first.done) / span.Seconds()
		text += ", " + size(int64(speed)) + "/s"
		if speed > 0 {
			text += ", " + left(time.Duration(min(float64(p.Total-p.Done)/speed, 1e6)*float64(time.Second))) + " left" // more is no number of nanoseconds
		}
	}
	return text
}

// draw puts the bar over the last line. The library takes a bar that is full for one that has ended: the last byte is
// kept from it, since a part may be fetched again and more parts may come.
func (d *Download) draw(p local.Progress, text string) {
	if d.bar == nil {
		d.bar = progressbar.NewOptions64(p.Total+1,
			progressbar.OptionSetWriter(d.Out), progressbar.OptionSetWidth(barColumn), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerHead: "█", SaucerPadding: "░", BarStart: " ", BarEnd: " "}),
			progressbar.OptionShowDescriptionAtLineEnd(), progressbar.OptionSetDescription(text))
	}
	if d.bar.GetMax64() != p.Total+1 {
		d.bar.ChangeMax64(p.Total + 1)
	}
	d.bar.Describe(text)
	_ = d.bar.Set64(p.Done)
}

// End leaves what was shown behind, on a line of its own; the bar is full when the download is done.
func (d *Download) End(done bool) {
	if d.Terminal && d.bar != nil {
		if done {
			d.bar.Describe(size(d.total))
			_ = d.bar.Finish()
		}
		_, _ = io.WriteString(d.Out, "\n")
	}
	d.bar, d.stage = nil, ""
}

// of is "1.2 of 18.6 GB".
func of(done, total int64) string {
	whole := size(total)
	number, unit, _ := strings.Cut(whole, " ")
	switch unit {
	case "GB":
		return fmt.Sprintf("%.1f of %s %s", float64(done)/1e9, number, unit)
	case "MB":
		return fmt.Sprintf("%.0f of %s %s", float64(done)/1e6, number, unit)
	}
	return fmt.Sprintf("%d of %s", done, whole)
}

// left is a time to wait, no more exact than it can be known.
func left(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return "more than a day"
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
}
