package content

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLinkSourceNamesWhatItServedFirst(t *testing.T) {
	text, status := "a: 1\n", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	open := func() *LinkSource {
		return &LinkSource{Store: &Store{Dir: t.TempDir()}, URL: server.URL + "/m.yaml?token=secret", AllowPlain: true}
	}
	source := open()
	if strings.Contains(source.Reference(), "secret") {
		t.Errorf("the reference shows the query: %s", source.Reference())
	}
	resolved, err := source.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status = http.StatusInternalServerError // what was downloaded is there
	tree, err := source.Fetch(t.Context(), resolved)
	if err != nil || len(tree.Files) != 1 || string(tree.Files[0].Data) != text {
		t.Fatalf("%v %v", tree, err)
	}
	for _, test := range []struct {
		name, text string
		status     int
		change     func(*LinkSource)
		want       string
	}{
		{"other content under the same link", "a: 2\n", http.StatusOK, nil, ReasonDigestMismatch},
		{"a link that is dead", "", http.StatusNotFound, nil, ReasonContentNotFound},
		{"a link to a login", "", http.StatusUnauthorized, nil, ReasonRegistryUnauthorized},
		{"a link without TLS", text, http.StatusOK, func(l *LinkSource) { l.AllowPlain = false }, ReasonSourceInvalid},
		{"a link with a password", text, http.StatusOK, func(l *LinkSource) { l.URL = "https://u:p@host/x" }, ReasonSourceInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, status = test.text, test.status
			source := open()
			if test.change != nil {
				test.change(source)
			}
			if _, err := source.Fetch(t.Context(), resolved); ReasonOf(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if _, err := source.Resolve(t.Context()); test.want != ReasonDigestMismatch && ReasonOf(err) != test.want {
				t.Errorf("Resolve: got %v, want %s", err, test.want)
			}
		})
	}
}
