package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestLocallyTheCodeLetsIn(t *testing.T) {
	s := open(t, ModeLocal)
	before := get[sessionAnswer](s, "/api/v1/session")
	if before.LoggedIn || before.User != "" || before.Mode != ModeLocal || !slices.Equal(before.Login, []string{"code"}) {
		t.Errorf("before: %+v", before)
	}
	if r := s.do(http.MethodGet, "/api/v1/overview", ""); r.status != http.StatusUnauthorized || r.problem(t).Reason != WhyUnauthorized {
		t.Errorf("the overview without a session: %d %s", r.status, r.body)
	}
	for what, body := range map[string]string{
		"another code": `{"code":"` + random(32) + `"}`, "no code": `{}`, "a token": `{"token":"x"}`,
	} {
		if r := s.do(http.MethodPost, "/api/v1/session", body); r.status != http.StatusUnauthorized || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s %v", what, r.status, r.body, r.header)
		}
	}
	r := s.do(http.MethodPost, "/api/v1/session", `{"code":"`+s.server.Code()+`"}`)
	if r.status != http.StatusOK {
		t.Fatalf("log in: %d %s", r.status, r.body)
	}
	cookie := r.header.Get("Set-Cookie")
	for _, want := range []string{"kyma-session-" + s.server.port + "=", "Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=43200"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie has no %s: %s", want, cookie)
		}
	}
	is := get[sessionAnswer](s, "/api/v1/session")
	if !is.LoggedIn || is.User != "admin" || !slices.Contains(is.Groups, "system:masters") || is.Cluster != "test" {
		t.Errorf("after: %+v", is)
	}
	if r := s.do(http.MethodDelete, "/api/v1/session", ""); r.status != http.StatusNoContent {
		t.Errorf("log out: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/api/v1/overview", ""); r.status != http.StatusUnauthorized {
		t.Errorf("the overview after logging out: %d", r.status)
	}
}

func TestSession_InAClusterATokenLetsIn(t *testing.T) {
	s := open(t, ModeCluster)
	good := s.token("lets-in", "*")
	for what, token := range map[string]string{
		"no token": "", "one that the cluster does not know": "abc.def.ghi", "two words": "a b",
		"one that is too long": strings.Repeat("x", mostToken+1),
	} {
		r := s.do(http.MethodPost, "/api/v1/session", `{"token":"`+token+`"}`)
		if r.status != http.StatusUnauthorized || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	if r := s.do(http.MethodPost, "/api/v1/session", `{"code":"`+s.server.Code()+`"}`); r.status != http.StatusUnauthorized {
		t.Errorf("the code of a machine lets into a cluster: %d", r.status)
	}
	s.enterAs(good)
	is := get[sessionAnswer](s, "/api/v1/session")
	if !is.LoggedIn || is.User != "system:serviceaccount:default:lets-in" || !slices.Equal(is.Login, []string{"token"}) {
		t.Errorf("after: %+v", is)
	}
	for _, secret := range []string{good, good[len(good)-40:]} {
		if strings.Contains(s.logs.String(), secret) {
			t.Error("the token is in the log")
		}
	}
}

func TestSession_ManyFailedLoginsAreSlowedDown(t *testing.T) {
	s := open(t, ModeLocal)
	last := 0
	for range 15 {
		last = s.do(http.MethodPost, "/api/v1/session", `{"code":"guess"}`).status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the fifteenth guess got %d", last)
	}
	s.enter() // a user with the code can still log in
}

// TestSession_TheRightTokenIsLetInWhileOthersGuess checks this with the keys of a real API server.
func TestSession_TheRightTokenIsLetInWhileOthersGuess(t *testing.T) {
	s := open(t, ModeCluster)
	s.server.attempts.failures.SetLimit(rate.Every(time.Hour))
	last := 0
	for range mostFailures + 1 {
		last = s.do(http.MethodPost, "/api/v1/session", `{"token":"guess"}`).status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last guess got %d", last)
	}
	s.enterAs(s.token("guessed-beside", "*"))
}

func TestSession_ATokenThatIsTakenBackEndsTheSession(t *testing.T) {
	s := open(t, ModeCluster)
	token := s.token("taken-back", "*")
	s.enterAs(token)
	if err := s.admin.Delete(t.Context(), account("taken-back")); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the session has ended", func() bool {
		return s.do(http.MethodGet, "/api/v1/events?search=x", "").status == http.StatusUnauthorized
	})
	if is := get[sessionAnswer](s, "/api/v1/session"); is.LoggedIn {
		t.Errorf("still logged in: %+v", is)
	}
}

// served answers one request without a listener.
func served(t *testing.T, options Options, request *http.Request) *http.Response {
	t.Helper()
	options.Config, options.Assets = &rest.Config{Host: "https://127.0.0.1:1"}, frontEnd
	server, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	server.port = "8080"
	out := httptest.NewRecorder()
	server.Handler().ServeHTTP(out, request)
	return out.Result()
}

func ask(method, path, host string, headers ...string) *http.Request {
	var body *bytes.Reader
	if method == http.MethodPost {
		body = bytes.NewReader([]byte(`{"code":"x"}`))
	} else {
		body = bytes.NewReader(nil)
	}
	request := httptest.NewRequestWithContext(context.Background(), method, path, body)
	request.Host = host
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return request
}

func TestSession_WhoIsLetThrough(t *testing.T) {
	local, cluster := Options{Mode: ModeLocal}, Options{Mode: ModeCluster, Hosts: []string{"kyma.example.com"}}
	asJSON := []string{"Content-Type", "application/json"}
	logIn := func(headers ...string) *http.Request {
		return ask("POST", "/api/v1/session", "127.0.0.1:8080", append(headers, asJSON...)...)
	}
	for name, c := range map[string]struct {
		options Options
		request *http.Request
		want    int
	}{
		"loopback by its address":                  {local, ask("GET", "/api/v1/session", "127.0.0.1:8080"), 200},
		"loopback by its name":                     {local, ask("GET", "/api/v1/session", "localhost:8080"), 200},
		"loopback in IPv6":                         {local, ask("GET", "/api/v1/session", "[::1]:8080"), 200},
		"another port":                             {local, ask("GET", "/api/v1/session", "127.0.0.1:8081"), 421},
		"a foreign name that leads here":           {local, ask("GET", "/api/v1/session", "evil.example.com:8080"), 421},
		"a name that begins like ours":             {local, ask("GET", "/", "localhost.evil.com:8080"), 421},
		"no port":                                  {local, ask("GET", "/", "localhost"), 421},
		"the public name":                          {cluster, ask("GET", "/api/v1/session", "kyma.example.com"), 200},
		"another name in a cluster":                {cluster, ask("GET", "/api/v1/session", "10.0.0.1:8443"), 421},
		"the kubelet uses the address":             {cluster, ask("GET", "/healthz", "10.0.0.1:8443"), 200},
		"a form of another site":                   {local, logIn("Sec-Fetch-Site", "cross-site"), 403},
		"another origin, of an old browser":        {local, logIn("Origin", "http://evil.example.com"), 403},
		"a page on another port of this machine":   {local, logIn("Origin", "http://127.0.0.1:9999"), 403},
		"a body that a form can send":              {local, ask("POST", "/api/v1/session", "127.0.0.1:8080", "Content-Type", "text/plain"), 415},
		"our own page":                             {local, logIn("Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-origin"), 401},
		"a link on another site only reads a page": {local, ask("GET", "/", "127.0.0.1:8080", "Sec-Fetch-Site", "cross-site"), 200},
		"an unknown path of the API":               {local, ask("GET", "/api/v1/nothing", "127.0.0.1:8080"), 404},
		"an unknown method":                        {local, ask("DELETE", "/api/v1/overview", "127.0.0.1:8080"), 405},
		"a page is not posted to":                  {local, ask("POST", "/", "127.0.0.1:8080", asJSON...), 405},
		"a route of the front end":                 {local, ask("GET", "/kymas/a/b", "127.0.0.1:8080"), 200},
		"a route with a name that has dots":        {local, ask("GET", "/kymas/a/b.c", "127.0.0.1:8080"), 200},
		"a file that does not exist":               {local, ask("GET", "/assets/none.js", "127.0.0.1:8080"), 404},
		"a path that climbs":                       {local, ask("GET", "/assets/../../etc/passwd", "127.0.0.1:8080"), 200}, // the page
	} {
		t.Run(name, func(t *testing.T) {
			r := served(t, c.options, c.request)
			defer r.Body.Close()
			if r.StatusCode != c.want {
				t.Errorf("status %d, want %d", r.StatusCode, c.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	nonces := map[string]bool{}
	for _, path := range []string{"/", "/login", "/api/v1/session", "/assets/app-1.js", "/api/v1/nothing", "/healthz"} {
		r := served(t, Options{Mode: ModeCluster}, ask("GET", path, "x"))
		defer r.Body.Close()
		if path == "/healthz" {
			continue
		}
		policy := r.Header.Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`'nonce-([^']+)'`).FindStringSubmatch(policy)
		if len(nonce) != 2 || nonces[nonce[1]] || len(nonce[1]) < 20 {
			t.Fatalf("%s: the nonce is not new: %s", path, policy)
		}
		nonces[nonce[1]] = true
		for want := range strings.SplitSeq(
			"default-src 'none'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; connect-src 'self'", "; ",
		) {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %s in %s", path, want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", path, policy)
		}
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Strict-Transport-Security": "max-age=31536000",
		} {
			if is := r.Header.Get(header); is != want {
				t.Errorf("%s: %s is %q", path, header, is)
			}
		}
		var text bytes.Buffer
		_, _ = text.ReadFrom(r.Body)
		if path == "/" && (!strings.Contains(text.String(), `content="`+nonce[1]+`"`) || strings.Contains(text.String(), noncePlaceholder)) {
			t.Errorf("the page does not have its nonce: %s", text.String())
		}
		cache := "no-store"
		if path == "/assets/app-1.js" {
			cache = "public, max-age=31536000, immutable"
		}
		if is := r.Header.Get("Cache-Control"); is != cache {
			t.Errorf("%s: Cache-Control %q", path, is)
		}
	}
	packed := served(t, Options{Mode: ModeCluster}, ask("GET", "/assets/app-1.js", "x", "Accept-Encoding", "gzip"))
	defer packed.Body.Close()
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("a script is sent with %v", packed.Header)
	}
}

func TestSession_TheCookieOfATLSServer(t *testing.T) {
	server, err := New(Options{Mode: ModeCluster, Config: &rest.Config{Host: "https://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	out := httptest.NewRecorder()
	server.begin(out, ask("POST", "/api/v1/session", "x"), &User{Name: "a"}, time.Time{})
	cookie := out.Header().Get("Set-Cookie")
	for _, want := range []string{"__Host-kyma-session=", "Secure", "HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("no %s in %s", want, cookie)
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	now := time.Now()
	var gone []string
	fresh := func() *sessions {
		s := newSessions(func() time.Time { return now })
		s.gone = func(u *User) { gone = append(gone, u.Name) }
		return s
	}
	begin := now
	for name, c := range map[string]struct {
		expires time.Time
		steps   []time.Duration // between two uses
		alive   bool
	}{
		"one that is used lives":                   {time.Time{}, []time.Duration{59 * time.Minute, 59 * time.Minute}, true},
		"one that is unused for an hour ends":      {time.Time{}, []time.Duration{61 * time.Minute}, false},
		"after twelve hours it ends in any case":   {time.Time{}, slices.Repeat([]time.Duration{50 * time.Minute}, 15), false},
		"it ends with its login":                   {begin.Add(10 * time.Minute), []time.Duration{11 * time.Minute}, false},
		"a login that lasts longer changes little": {begin.Add(24 * time.Hour), slices.Repeat([]time.Duration{50 * time.Minute}, 15), false},
	} {
		t.Run(name, func(t *testing.T) {
			now = begin
			s := fresh()
			id := s.start(&User{Name: name}, c.expires)
			alive := true
			for _, step := range c.steps {
				now = now.Add(step)
				alive = s.find(id) != nil
			}
			if alive != c.alive {
				t.Errorf("alive: %v, want %v", alive, c.alive)
			}
			if !alive && !slices.Contains(gone, name) {
				t.Error("no one was told that it ended")
			}
		})
	}
	now = begin
	s := fresh()
	first := s.start(&User{Name: "first"}, time.Time{})
	for i := range mostSessions {
		now = now.Add(time.Millisecond)
		s.start(&User{Name: "other " + strconv.Itoa(i)}, time.Time{})
	}
	if len(s.all) != mostSessions || s.find(first) != nil {
		t.Errorf("there are %d sessions, and the oldest is among them", len(s.all))
	}
}

func TestExpiryOf(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		want  int64
	}{
		"a token with a time":      {"e30.eyJleHAiOjE3MDAwMDAwMDB9.x", 1700000000},
		"one without":              {"e30.e30.x", 0},
		"no token of three parts":  {"opaque", 0},
		"a part that is no base64": {"a.%%%.c", 0},
		"a part that is no JSON":   {"a.YWJj.c", 0},
		"a time that is no number": {"a.eyJleHAiOiJ4In0.c", 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := expiryOf(c.token)
			if c.want == 0 && !is.IsZero() || c.want != 0 && is.Unix() != c.want {
				t.Errorf("expires %v, want %d", is, c.want)
			}
		})
	}
}

func FuzzExpiryOf(f *testing.F) {
	f.Add("e30.eyJleHAiOjE3MDAwMDAwMDB9.x")
	f.Fuzz(func(_ *testing.T, token string) { expiryOf(token) })
}

func TestSession_OnlyTheHubEndsASession(t *testing.T) {
	s := open(t, ModeLocal)
	s.server.handle("GET /api/v1/test", func(context.Context, *User, *http.Request) (any, error) {
		return nil, apierrors.NewUnauthorized("of a runtime")
	})
	s.enter()
	r := s.do(http.MethodGet, "/api/v1/test", "")
	if r.status != http.StatusBadGateway || r.problem(t).Reason != v1beta2.ReasonRuntimeUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
	if is := get[sessionAnswer](s, "/api/v1/session"); !is.LoggedIn {
		t.Error("a runtime logged a user out")
	}
}

// TestSession_TwoDashboardsOnOneMachine: a browser sends the cookies of 127.0.0.1 to all its ports.
func TestSession_TwoDashboardsOnOneMachine(t *testing.T) {
	one, two := open(t, ModeLocal), open(t, ModeLocal)
	two.http = one.http
	one.enter()
	two.enter()
	for name, s := range map[string]*site{"the first": one, "the second": two} {
		if !get[sessionAnswer](s, "/api/v1/session").LoggedIn {
			t.Errorf("%s has lost its session", name)
		}
	}
}
