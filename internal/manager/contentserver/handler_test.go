package contentserver

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestListOfInstalls(t *testing.T) {
	f := newFixture(t)
	answer := f.get(f.reader(), "/sample")
	want(t, answer, 200)
	expected := fmt.Sprintf(`[{"install":"bundle","reference":"registry.example.com/bundle:1.0","digest":%[2]q,`+
		`"mediaType":"application/vnd.oci.image.manifest.v1+json","url":"/v1/manifests/%[1]s/sample/bundle"},`+
		`{"install":"raw","reference":"registry.example.com/raw@%[3]s","digest":%[2]q,"url":"/v1/manifests/%[1]s/sample/raw"},`+
		`{"install":"late","reference":"https://example.com/late.git","digest":%[2]q,"url":"/v1/manifests/%[1]s/sample/late"}]`+"\n",
		f.namespace, someDigest, someDigest)
	if diff := cmp.Diff(expected, answer.Body.String()); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if got := answer.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type is %q", got)
	}
}

func TestArchive(t *testing.T) {
	f := newFixture(t)
	token, whole := f.reader(), content.Archive(bundle()[0].Tree.Files)
	etag := `"` + someDigest + `"`
	for name, test := range map[string]struct {
		change func(*http.Request)
		code   int
		body   []byte
	}{
		"the whole archive":               {nil, 200, whole},
		"its headers":                     {func(req *http.Request) { req.Method = http.MethodHead }, 200, nil},
		"not modified":                    {header("If-None-Match", etag), 304, nil},
		"not modified, among other ETags": {header("If-None-Match", `"sha256:other", W/`+etag), 304, nil},
		"the client has another version":  {header("If-None-Match", `"sha256:other"`), 200, whole},
		"a part":                          {header("Range", "bytes=512-1023"), 206, whole[512:1024]},
		"the rest of the same content":    {func(req *http.Request) { header("Range", "bytes=512-")(req); header("If-Range", etag)(req) }, 206, whole[512:]},
	} {
		t.Run(name, func(t *testing.T) {
			if test.change == nil {
				test.change = func(*http.Request) {}
			}
			answer := f.get(token, "/sample/bundle", test.change)
			if answer.Code != test.code || !bytes.Equal(answer.Body.Bytes(), test.body) {
				t.Errorf("got %d and %d bytes, want %d and %d bytes", answer.Code, answer.Body.Len(), test.code, len(test.body))
			}
			if got := answer.Header().Get("ETag"); got != etag {
				t.Errorf("ETag is %s, want %s", got, etag)
			}
			if test.code == 200 && answer.Header().Get("Content-Length") != fmt.Sprint(len(whole)) {
				t.Errorf("Content-Length is %q, want %d", answer.Header().Get("Content-Length"), len(whole))
			}
			if got := answer.Header().Get("Content-Type"); test.code != 304 && got != "application/x-tar" {
				t.Errorf("Content-Type is %q", got)
			}
			if got := answer.Header().Get("Cache-Control"); got != "private, no-cache" {
				t.Errorf("Cache-Control is %q: a shared cache must not keep it", got)
			}
		})
	}
}

func TestArchiveOfOneFileCanBeUnpacked(t *testing.T) {
	f := newFixture(t)
	reader := tar.NewReader(f.get(f.reader(), "/sample/raw").Body)
	entry, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil || entry.Name != unnamed || string(data) != "kind: Raw\n" {
		t.Errorf("the archive holds %q: %q, %v", entry.Name, data, err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("there is more: %v", err)
	}
}

func TestFiles(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	const text = "text/plain; charset=utf-8"
	for name, test := range map[string]struct {
		path      string
		code      int
		body      string
		mediaType string
	}{
		"a file of a folder":        {"/bundle/manifests/b.yaml", 200, "kind: B\n", text},
		"a name with a blank":       {"/bundle/manifests/a%20file.yaml", 200, "kind: A\n", text},
		"a page is text":            {"/bundle/page.html", 200, "<script>alert(1)</script>", text},
		"binary data is not text":   {"/bundle/logo.bin", 200, "\x00\x01\x02\xff", "application/octet-stream"},
		"the file that has no name": {"/raw/manifest.yaml", 200, "kind: Raw\n", text},
		"a folder is not a file":    {"/bundle/manifests", 404, "", ""},
		"a folder with its slash":   {"/bundle/manifests/", 404, "", ""},
		"no path":                   {"/bundle/", 404, "", ""},
		"a file that is not there":  {"/bundle/missing.yaml", 404, "", ""},
		"a path out of the content": {"/bundle/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404, "", ""},
		"another install's file":    {"/raw/page.html", 404, "", ""},
		"a missing install":         {"/missing/page.html", 404, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer := f.get(token, "/sample"+test.path)
			want(t, answer, test.code)
			if answer.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(answer.Header().Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("a browser may guess or run this: %v", answer.Header())
			}
			if test.code != 200 {
				return
			}
			if answer.Body.String() != test.body || answer.Header().Get("Content-Type") != test.mediaType {
				t.Errorf("got %q as %s, want %q as %s", answer.Body, answer.Header().Get("Content-Type"), test.body, test.mediaType)
			}
			if again := f.get(token, "/sample"+test.path, header("If-None-Match", answer.Header().Get("ETag"))); again.Code != 304 {
				t.Errorf("the same file is sent again: %d", again.Code)
			}
		})
	}
}

func TestHandler_WhatCannotBeServed(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	for name, test := range map[string]struct {
		err    error
		code   int
		retry  string
		says   string
		logged bool
	}{
		"no such Manifest":                {ErrNotFound, 404, "", "does not exist", false},
		"the same, wrapped":               {fmt.Errorf("read: %w", ErrNotFound), 404, "", "does not exist", false},
		"pending content":                 {ErrPending, 503, "5", "being fetched", false},
		"content expected in two minutes": {fmt.Errorf("fetch: %w", Pending(2*time.Minute)), 503, "120", "being fetched", false},
		"content expected at once":        {Pending(time.Millisecond), 503, "1", "being fetched", false},
		"a negative time":                 {Pending(-time.Second), 503, "5", "being fetched", false},
		"reading takes too long":          {context.DeadlineExceeded, 503, "5", "being fetched", false},
		"an unreachable registry":         {&content.Error{Reason: content.ReasonRegistryUnreachable, Err: errors.New("dial"), RetryAfter: time.Minute}, 503, "60", "dial", false},
		"a registry that refuses":         {&content.Error{Reason: content.ReasonRegistryUnauthorized, Err: errors.New("log in")}, 502, "", "log in", false},
		"trouble of this machine":         {&content.Error{Reason: content.ReasonInternal, Err: errors.New("disk full")}, 500, "", "log of the manager", true},
		"an unexpected error":             {errors.New("disk full"), 500, "", "log of the manager", true},
		"a Manifest without content":      {nil, 404, "", "no content yet", false},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(f.logged.all())
			f.contents = func(context.Context, string, string) ([]Item, error) { return nil, test.err }
			answer := f.get(token, "/sample/bundle")
			want(t, answer, test.code, test.says)
			if got := answer.Header().Get("Retry-After"); got != test.retry {
				t.Errorf("Retry-After is %q, want %q", got, test.retry)
			}
			if got := len(f.logged.all()) > before; got != test.logged {
				t.Errorf("logged: %v, want %v", got, test.logged)
			}
			if test.logged && strings.Contains(answer.Body.String(), "disk full") {
				t.Errorf("the answer tells what is inside: %s", answer.Body)
			}
		})
	}
}

func TestHandler_OneInstallMayBeLate(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	answer := f.get(token, "/sample/late")
	want(t, answer, 503, `"late"`)
	if answer.Header().Get("Retry-After") != "5" {
		t.Errorf("Retry-After is %q", answer.Header().Get("Retry-After"))
	}
	want(t, f.get(token, "/sample/late/a.yaml"), 503)
	want(t, f.get(token, "/sample/bundle"), 200)
	want(t, f.get(token, "/sample/missing"), 404, "bundle, raw, late")
}

func TestContentIsOnlyRead(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
		answer := f.get(token, "/sample/bundle", func(req *http.Request) { req.Method = method })
		want(t, answer, 405)
		if answer.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow is %q", method, answer.Header().Get("Allow"))
		}
	}
}

func TestReadersAreLimited(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	want(t, f.get(token, "/sample"), 200)
	for range maxReaders {
		f.slots <- struct{}{}
	}
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	late := func(req *http.Request) { *req = *req.WithContext(impatient) }
	want(t, f.get(token, "/sample", late), 503, "ask again")
	<-f.slots
	want(t, f.get(token, "/sample"), 200)
}
