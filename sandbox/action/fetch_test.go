package action

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

// site is a server, and a workspace that may reach it.
func site(t testing.TB, pages map[string]http.HandlerFunc) (*Workspace, string) {
	t.Helper()
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.HandleFunc(path, page)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w := workspace(t, nil)
	w.private = func(netip.Addr) bool { return false }
	return w, server.URL
}

func answers(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(body))
	}
}

const sample = `<!doctype html><html><head><title>T</title><style>p{}</style><script>var x</script></head>
<body><h1>Head &amp; tail</h1><p>One <b>bold</b> <a href="/a?b=1">link</a>
<img src="data:image/png;base64,AAAA" alt="p">, <code>x_y</code>.</p><ul><li>a</li><li>b</li></ul>
<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
<pre>  kept
    so</pre></body></html>`

func TestFetchFormats(t *testing.T) {
	w, at := site(t, map[string]http.HandlerFunc{"/": answers("text/html; charset=utf-8", sample)})
	for format, want := range map[string][]string{
		"":     {"# Head & tail\n", "One **bold** [link](" + at + "/a?b=1)", "`x_y`", "- a\n- b", "| k | v |", "```\n  kept\n    so\n```"},
		"text": {"Head & tail\n\nOne bold link , x_y.\n\na\nb\n\nk v\n1 2\n\n  kept\n    so"},
		"html": {sample},
	} {
		out, err := Fetch{URL: at, Format: format}.Do(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range want {
			if !strings.Contains(out.Text, s) {
				t.Errorf("%s: %q lacks %q", format, out.Text, s)
			}
		}
		if format != "html" && (strings.Contains(out.Text, "var x") || strings.Contains(out.Text, "AAAA")) {
			t.Errorf("%s: %q", format, out.Text)
		}
		if out.Status != 200 || out.MIME != "text/html" || out.Bytes != len(sample) || out.Cut || out.Moved != "" {
			t.Errorf("%+v", out)
		}
	}
}

func TestFetchTypesAndEncodings(t *testing.T) {
	long := strings.Repeat("a", 2000)
	w, at := site(t, map[string]http.HandlerFunc{
		"/json":  answers("application/json", `{"a": 1}`),
		"/feed":  answers("application/atom+xml", "<a/>"),
		"/latin": answers("text/html; charset=iso-8859-1", "<p>gr\xfc\xdfe</p>"),
		"/meta":  answers("text/html", "<meta charset=shift_jis><p>\x93\xfa\x96{</p>"),
		"/late":  answers("text/html", "<p>"+long+"grüße</p>"),
		"/utf16": answers("text/plain", "\xff\xfeh\x00i\x00"),
		"/plain": answers("text/plain", "a\r\nb\xff"),
		"/none":  answers("application/octet-stream", "just text"),
		"/png":   answers("image/png", "\x89PNG\r\n\x1a\n\x00"),
		"/liar":  answers("text/plain", "\x89PNG\r\n\x1a\n\x00\x00"),
		"/noType": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = w.Write([]byte("<html><p>x"))
		},
		"/zip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte("unpacked"))
			z.Close()
		},
	})
	for path, want := range map[string]string{"json": `{"a": 1}`, "feed": "<a/>", "latin": "grüße", "meta": "日本", "late": long + "grüße",
		"utf16": "hi", "plain": "a\nbÿ", "none": "just text", "noType": "x", "zip": "unpacked"} {
		out, err := Fetch{URL: at + "/" + path}.Do(context.Background(), w)
		if err != nil || out.Text != want {
			t.Errorf("%s: %q, %v", path, out.Text, err)
		}
	}
	for path, want := range map[string]string{"png": "image/png, 9 bytes", "liar": "image/png, 10 bytes"} {
		_, err := Fetch{URL: at + "/" + path}.Do(context.Background(), w)
		if !errors.Is(err, ErrNotText) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFetchRedirects(t *testing.T) {
	to := func(where string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, where, http.StatusFound) }
	}
	w, at := site(t, map[string]http.HandlerFunc{
		"/here": to("/there"), "/there": answers("text/plain", "arrived"), "/round": to("/round"),
		"/away": to("http://other.invalid/x?y=1"), "/port": to("http://127.0.0.1:1/"), "/file": to("file:///etc/passwd"),
	})
	out, err := Fetch{URL: at + "/here"}.Do(context.Background(), w)
	if err != nil || out.Text != "arrived" || out.URL != at+"/there" || out.Moved != "" {
		t.Errorf("%+v, %v", out, err)
	}
	for path, want := range map[string]string{"away": "http://other.invalid/x?y=1", "port": "http://127.0.0.1:1/", "file": "file:///etc/passwd"} {
		out, err = Fetch{URL: at + "/" + path}.Do(context.Background(), w)
		if err != nil || out.Moved != want || out.Status != 302 || out.Text != "" {
			t.Errorf("%s: %+v, %v", path, out, err)
		}
	}
	if _, err = (Fetch{URL: at + "/round"}).Do(context.Background(), w); err == nil || !strings.HasSuffix(err.Error(), "more than 10 redirects") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		from, to string
		same     bool
	}{
		{"http://a/x", "http://A/y", true}, {"http://a/", "https://a/", true}, {"https://a/", "http://a/", false},
		{"http://a:80/", "https://a:443/", true}, {"http://a:8080/", "http://a/", false}, {"http://a/", "http://b.a/", false},
		{"http://a:8080/", "https://a:8080/", false}, {"https://a:1/", "https://a:1/z", true},
	} {
		from, err1 := url.Parse(c.from)
		to, err2 := url.Parse(c.to)
		if err1 != nil || err2 != nil || sameHost(from, to) != c.same {
			t.Errorf("%s to %s is the same host: %v", c.from, c.to, !c.same)
		}
	}
}

func TestFetchFails(t *testing.T) {
	w, at := site(t, map[string]http.HandlerFunc{
		"/gone": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<h1>No such page</h1><p>Sorry.")
		},
		"/slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/big":  answers("text/plain", strings.Repeat("0123456789", 1<<20+1)),
	})
	_, err := Fetch{URL: at + "/gone"}.Do(context.Background(), w)
	var status *StatusError
	if !errors.As(err, &status) || status.Status != 404 || status.Text != "No such page\n\nSorry." || err.Error() != "fetch "+at+"/gone: the server answers 404 not found: No such page" {
		t.Errorf("%v: %+v", err, status)
	}
	_, err = Fetch{URL: at + "/slow", Timeout: 30 * time.Millisecond}.Do(context.Background(), w)
	if err == nil || err.Error() != "fetch "+at+"/slow: no whole answer within 30ms" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = (Fetch{URL: at + "/slow"}).Do(ctx, w); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	out, err := Fetch{URL: at + "/big", Limit: 25}.Do(context.Background(), w)
	if err != nil || !out.Cut || out.Bytes != fetchMost || out.Text != "0123456789012345678901234" {
		t.Errorf("%d bytes, cut %v, %q, %v", out.Bytes, out.Cut, out.Text, err)
	}
	for address, want := range map[string]string{
		"": "names no host", "ftp://x/": "scheme ftp", "http://u:p@x/": "credentials", "http://[::1": "missing ']'", "http:///x": "names no host",
	} {
		if _, err := (Fetch{URL: address}).Do(context.Background(), w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := (Fetch{URL: at, Format: "pdf"}).Do(context.Background(), w); err == nil || !strings.Contains(err.Error(), "pdf") {
		t.Error(err)
	}
}

// Addresses of this machine are judged when they are dialled, whatever name led to them.
func TestFetchPrivate(t *testing.T) {
	asked := 0
	w, at := site(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { asked++ }})
	w.private = nil
	for _, address := range []string{at, strings.Replace(at, "127.0.0.1", "localhost", 1), strings.Replace(at, "127.0.0.1", "[::ffff:127.0.0.1]", 1)} {
		_, err := Fetch{URL: address}.Do(context.Background(), w)
		var denied *DeniedError
		if !errors.As(err, &denied) || denied.What != "fetch" || denied.Path != address {
			t.Errorf("%s: %v", address, err)
		}
	}
	if asked != 0 {
		t.Errorf("the server was asked %d times", asked)
	}
	w.Box = sandboxtest.New(t, sandbox.Policy{Mode: sandbox.FullAccess, Dir: w.Dir})
	if _, err := (Fetch{URL: at}).Do(context.Background(), w); err != nil || asked != 1 {
		t.Errorf("with full access: %v, asked %d times", err, asked)
	}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "172.16.0.1": true, "192.168.1.1": true, "169.254.169.254": true, "100.64.0.1": true, "0.0.0.0": true, "::1": true,
		"fe80::1": true, "fd00::1": true, "::ffff:10.0.0.1": true, "64:ff9b::a00:1": true, "224.0.0.1": true, "255.255.255.255": true,
		"1.1.1.1": false, "93.184.216.34": false, "2606:4700::1111": false, "172.32.0.1": false,
	} {
		if got := privateAddress(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is private: %v", address, got)
		}
	}
}

// A page made to be expensive does not hang the reader.
func TestFetchDeepPage(t *testing.T) {
	for name, body := range map[string]string{
		"nested": strings.Repeat("<div>", 100_000) + "deep", "lists": strings.Repeat("<ul><li>", 400) + "deep" + strings.Repeat("<b>x", 10_000),
	} {
		w, at := site(t, map[string]http.HandlerFunc{"/": answers("text/html", body)})
		for _, format := range []string{"markdown", "text"} {
			began := time.Now()
			out, err := Fetch{URL: at, Format: format}.Do(context.Background(), w)
			if err != nil || !strings.Contains(out.Text, "deep") {
				t.Errorf("%s as %s: %d bytes, %v", name, format, len(out.Text), err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s as %s took %v", name, format, took)
			}
		}
	}
}

func BenchmarkPage(b *testing.B) {
	body := []byte(strings.Repeat(sample, 500))
	for _, format := range []string{"markdown", "text"} {
		b.Run(format, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				p := webPage{kind: "text/html", body: body, at: &url.URL{Scheme: "http", Host: "x"}}
				p.as(format)
			}
		})
	}
}
