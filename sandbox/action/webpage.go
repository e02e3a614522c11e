package action

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// webPage is an answer of a web server.
type webPage struct {
	kind string // its Content-Type
	body []byte
	at   *url.URL
}

// media is the media type of a page, and whether it is text. What the server says counts, unless it says nothing, or
// calls something text that is not.
func (p *webPage) media() (name string, isText bool) {
	name, _, err := mime.ParseMediaType(p.kind)
	if err != nil || name == "" || name == "application/octet-stream" || name == "binary/octet-stream" {
		p.kind = http.DetectContentType(p.body)
		name, _, _ = mime.ParseMediaType(p.kind)
	}
	if !textType(name) {
		return name, false
	}
	if seen := http.DetectContentType(p.body); !strings.HasPrefix(seen, "text/") && bytes.IndexByte(p.body, 0) >= 0 {
		return strings.SplitN(seen, ";", 2)[0], false
	}
	return name, true
}

func textType(name string) bool {
	if strings.HasPrefix(name, "text/") || strings.HasSuffix(name, "+json") || strings.HasSuffix(name, "+xml") || strings.HasSuffix(name, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(name, "application/"), "x-") {
	case "json", "xml", "javascript", "ecmascript", "yaml", "toml", "ndjson", "jsonlines", "sql", "graphql", "sh", "httpd-php", "typescript", "tex":
		return true
	}
	return false
}

// as gives a page as "html", "text" or Markdown.
func (p *webPage) as(format string) string {
	text := p.decoded()
	name, _, _ := mime.ParseMediaType(p.kind)
	if format == "html" || name != "text/html" && name != "application/xhtml+xml" {
		return text
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return looseText(text)
	}
	p.resolve(doc)
	if format != "text" && len(text) <= markdownMost {
		if out, err := markdown(doc); err == nil {
			return out
		}
	}
	return pageText(doc)
}

// decoded is the page in UTF-8 with line feeds. Without a word on its encoding it is UTF-8 if all of it can be.
func (p *webPage) decoded() string {
	text := string(p.body)
	enc, _, certain := charset.DetermineEncoding(p.body, p.kind)
	if certain || !utf8.ValidString(text) {
		if out, err := enc.NewDecoder().String(text); err == nil {
			text = out
		}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd")
}

// resolve makes links whole, and drops pictures that are written into the page.
func (p *webPage) resolve(doc *html.Node) {
	from := p.at
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for i := range n.Attr {
			a := &n.Attr[i]
			if a.Key != "href" && a.Key != "src" {
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(a.Val), "data:") {
				a.Val = ""
				continue
			}
			to, err := from.Parse(strings.TrimSpace(a.Val))
			if err != nil || strings.HasPrefix(a.Val, "#") {
				continue
			}
			if a.Val = to.String(); n.DataAtom == atom.Base && a.Key == "href" {
				from = to
			}
		}
	}
}

// markdownMost bounds pages that become Markdown, in bytes; longer ones become plain text, which takes a fifth of the
// time.
const markdownMost = 4 << 20

func markdown(doc *html.Node) (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	out, err := conv.ConvertNode(doc)
	return strings.TrimSpace(string(out)), err
}

// looseText is the text of a page that is nested too deep to make sense of.
func looseText(page string) string {
	var b textBuilder
	skip := atom.Atom(0)
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.TextToken:
			if skip == 0 {
				b.words(string(z.Text()))
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if a := atom.Lookup(name); a == atom.Script || a == atom.Style {
				skip = a
			}
			b.line(1)
		case html.EndTagToken:
			skip = 0
			b.line(1)
		}
	}
}

// pageText is what a person reads of a page.
func pageText(doc *html.Node) string {
	var b textBuilder
	b.node(doc, false)
	return strings.TrimSpace(b.String())
}

// textBuilder collects words: one blank between them, a line end around blocks.
type textBuilder struct {
	strings.Builder
	blank  bool // a blank is due before the next word
	breaks int  // line ends at the end
}

func (b *textBuilder) node(n *html.Node, verbatim bool) {
	switch n.Type {
	case html.TextNode:
		if verbatim {
			b.WriteString(n.Data)
			b.blank, b.breaks = false, 0
			return
		}
		b.words(n.Data)
		return
	case html.CommentNode, html.DoctypeNode:
		return
	}
	lines := 0
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Iframe, atom.Svg:
		return
	case atom.Br:
		b.line(b.breaks + 1)
		return
	case atom.Pre, atom.Textarea:
		verbatim = true
		lines = 2
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote:
		lines = 2
	case atom.Div, atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Nav, atom.Main,
		atom.Aside, atom.Form, atom.Fieldset, atom.Figure, atom.Figcaption, atom.Hr, atom.Option, atom.Body, atom.Details, atom.Summary:
		lines = 1
	case atom.Td, atom.Th:
		b.blank = true
	}
	b.line(lines)
	for c := range n.ChildNodes() {
		b.node(c, verbatim)
	}
	b.line(lines)
}

func (b *textBuilder) words(text string) {
	words := strings.Fields(text)
	if len(words) == 0 {
		b.blank = b.blank || text != ""
		return
	}
	if r, _ := utf8.DecodeRuneInString(text); strings.ContainsRune(" \t\r\n\f", r) {
		b.blank = true
	}
	for i, word := range words {
		if (b.blank || i > 0) && b.Len() > 0 && b.breaks == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		b.blank, b.breaks = false, 0
	}
	b.blank = strings.ContainsAny(text[len(text)-1:], " \t\r\n\f")
}

// line sees to it that the text so far ends in so many line ends.
func (b *textBuilder) line(n int) {
	if b.Len() == 0 || n == 0 {
		return
	}
	for ; b.breaks < n; b.breaks++ {
		b.WriteByte('\n')
	}
	b.blank = false
}
