package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
)

// A browser that shows a response of the API requests the well-known path of icons, since the response names no other.
func TestStatic_TheIconOfAnAnswerThatNamesNone(t *testing.T) {
	for name, test := range map[string]struct {
		assets fstest.MapFS
		status int
		at     string
	}{
		"is the one of the page": {fstest.MapFS{iconFile: {Data: []byte("<svg/>")}}, http.StatusPermanentRedirect, "/favicon.svg"},
		"is none without a page": {fstest.MapFS{}, http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := readStatic(test.assets)
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/favicon.ico", nil))
			if w.Code != test.status || w.Header().Get("Location") != test.at {
				t.Errorf("status %d, to %q", w.Code, w.Header().Get("Location"))
			}
		})
	}
}
