package content

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRedact_AFailureDoesNotRepeatCredentials(t *testing.T) {
	status := http.StatusForbidden
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, password, _ := req.BasicAuth()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, user+":"+password+" "+password+" "+req.Header.Get("Authorization"))
	}))
	defer server.Close()
	cases := []struct {
		name   string
		status int
		login  func(*http.Request)
		want   string
	}{
		{"a password", http.StatusForbidden, func(r *http.Request) { r.SetBasicAuth("me", "geheim") }, "(credentials) (credentials) Basic (credentials)"},
		{"a token", http.StatusInternalServerError, func(r *http.Request) { r.Header.Set("Authorization", "Bearer t0ken") }, ":  Bearer (credentials)"},
		{"nothing was sent", http.StatusNotFound, func(*http.Request) {}, ":  "},
		{"content is not touched", http.StatusOK, func(r *http.Request) { r.Header.Set("Authorization", "Bearer t0ken") }, ":  Bearer t0ken"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status = c.status
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.login(req)
			client := &http.Client{Transport: HostTransport(http.DefaultTransport.(*http.Transport), nil)}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(resp.Body)
			if err != nil || string(said) != c.want {
				t.Errorf("%q, %v, want %q", said, err, c.want)
			}
			_ = resp.Body.Close()
		})
	}
}
