package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// revoke revokes a refresh token for the client that it was issued to (RFC 7009).
func (p *identityProvider) revoke(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	judge := p.revoking
	p.mutex.Unlock()
	_ = r.ParseForm()
	id, secret, _ := r.BasicAuth()
	switch {
	case judge != nil:
		judge(w, r)
		return
	case id != dashboardClient || secret != dashboardSecret || r.Form.Has("client_secret"):
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	p.forget(r)
}

// forget records a revoked token.
func (p *identityProvider) forget(r *http.Request) {
	p.set(func() { p.revoked = append(p.revoked, r.Form.Get("token_type_hint")+" "+r.Form.Get("token")) })
}

// gone returns the refresh tokens that were revoked.
func (p *identityProvider) gone() (gone []string) {
	p.set(func() { gone = slices.Clone(p.revoked) })
	slices.Sort(gone)
	return gone
}

// hasRevoked waits until refresh tokens are revoked, which no request waits for.
func (p *identityProvider) hasRevoked(t *testing.T, want ...string) {
	t.Helper()
	for i := range want {
		want[i] = "refresh_token " + refreshSecret + want[i]
	}
	eventually(t, time.Minute, "the refresh tokens are revoked", func() bool { return slices.Equal(p.gone(), want) })
}

func (s *site) logsOut() {
	s.Helper()
	s.sends(http.MethodDelete, "/api/v1/session", "", http.StatusNoContent)
}

// idle lets the session of the browser end by itself.
func (s *site) idle() {
	s.Helper()
	ahead := func(d time.Duration) {
		s.server.sessions.mutex.Lock()
		defer s.server.sessions.mutex.Unlock()
		s.server.sessions.now = func() time.Time { return time.Now().Add(d) }
	}
	ahead(sessionIdle + time.Minute)
	if get[sessionAnswer](s, "/api/v1/session").LoggedIn {
		s.Fatal("the session goes on")
	}
	ahead(0)
}

func TestLoggingOutRevokesTheRefreshToken(t *testing.T) {
	s, p, _ := offline(t)
	s.logsOut()
	p.hasRevoked(t, "0")
	s.tellsNothing()
}

func TestRevocation_TheRefreshTokenOfTheLastRenewalIsRevoked(t *testing.T) {
	s, p, later := offline(t)
	later(31 * time.Minute)
	if status := s.reads(); status != http.StatusOK || p.renewals() != 1 {
		t.Fatalf("status %d after %d renewals", status, p.renewals())
	}
	s.logsOut()
	p.hasRevoked(t, "1")
}

func TestRevocation_ASessionThatEndsByItselfRevokesItsRefreshToken(t *testing.T) {
	s, p, _ := offline(t)
	s.idle()
	p.hasRevoked(t, "0")
}

func TestRevocation_TheEndOfTheDashboardRevokesRefreshTokens(t *testing.T) {
	var p *identityProvider
	t.Run("until it ends", func(t *testing.T) {
		_, p, _ = offline(t)
		if gone := p.gone(); len(gone) > 0 {
			t.Errorf("revoked too early: %v", gone)
		}
	})
	if gone := p.gone(); len(gone) != 1 { // it has waited for that
		t.Errorf("revoked: %v", gone)
	}
}

func TestRevocation_ALoginThatComesToNothingRevokesItsRefreshToken(t *testing.T) {
	for sentence, claims := range map[string]func(map[string]any){
		"the ID token is of another login":                  func(c map[string]any) { c["nonce"] = "other" },
		"the ID token is for another client":                func(c map[string]any) { c["aud"] = "other" },
		"the cluster does not accept the user of the token": func(c map[string]any) { c["sub"], c["groups"] = "eve", 7 },
	} {
		t.Run(sentence, func(t *testing.T) {
			s, p := openWithProvider(t)
			p.set(func() { p.offline, p.twist = true, claims })
			if _, location := s.follow(s.toCallback()); !strings.HasPrefix(location, "/login?error=") {
				t.Fatalf("leads to %q", location)
			}
			p.hasRevoked(t, "0")
		})
	}
}

// TestRevocation_AnotherSessionKeepsItsLogin: a provider may end all logins of a user along with one refresh token.
func TestRevocation_AnotherSessionKeepsItsLogin(t *testing.T) {
	s, p, _ := offline(t)
	p.set(func() { p.refreshed = 1 }) // so that the second login has another refresh token
	first := s.http
	s.browser()
	s.http.Transport = p.Client().Transport
	if _, location := s.follow(s.toCallback()); location != "/" {
		t.Fatalf("leads to %q", location)
	}
	second := s.http
	s.http = first
	s.server.sessions.dropUser(s.mine()) // like one that ends by itself
	if gone := p.gone(); len(gone) > 0 {
		t.Errorf("revoked too early: %v", gone)
	}
	s.http = second
	s.logsOut()
	p.hasRevoked(t, "0", "1")
}

// mine returns the user who is logged in with this browser.
func (s *site) mine() *User {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.base, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	for _, cookie := range s.http.Jar.Cookies(request.URL) {
		if one := s.server.sessions.find(cookie.Value); one != nil {
			return one.user
		}
	}
	s.Fatal("no one is logged in")
	return nil
}

func TestRevocation_ALogoutRevokesAtOnce(t *testing.T) {
	s, p, _ := offline(t)
	p.set(func() { p.refreshed = 1 })
	first := s.http
	s.browser()
	s.http.Transport = p.Client().Transport
	if _, location := s.follow(s.toCallback()); location != "/" {
		t.Fatalf("leads to %q", location)
	}
	s.http = first
	s.logsOut()
	p.hasRevoked(t, "0")
}

// TestLoggingOutWaitsForNobody: the provider never answers.
func TestLoggingOutWaitsForNobody(t *testing.T) {
	asked, gaveUp := make(chan struct{}), make(chan struct{})
	s, _, _ := offline(t, func(p *identityProvider) {
		p.revoking = func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
			close(gaveUp)
		}
	})
	s.server.revocations.within = 2 * time.Second
	s.logsOut()
	select {
	case <-gaveUp:
		t.Error("the logout has waited")
	default:
	}
	<-asked
	<-gaveUp
	eventually(t, time.Minute, "the log says so", func() bool { return strings.Contains(s.logs.String(), "a refresh token is not revoked") })
	s.tellsNothing()
}

func TestRevocation_HowProvidersAreAskedToRevoke(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*identityProvider)
		logged string
		want   []string
	}{
		"a provider that accepts the secret in the form only": {change: func(p *identityProvider) {
			p.revoking = func(w http.ResponseWriter, r *http.Request) {
				if _, _, header := r.BasicAuth(); header || r.Form.Get("client_id") != dashboardClient ||
					r.Form.Get("client_secret") != dashboardSecret {
					http.Error(w, `{"error":"invalid_client"}`, http.StatusBadRequest)
					return
				}
				p.forget(r)
			}
		}, want: []string{"0"}},
		"a provider without revocation": {change: func(p *identityProvider) { p.revocation = "" }},
		"a provider whose address is not https": {change: func(p *identityProvider) {
			p.revocation = strings.Replace(p.URL, "https", "http", 1) + "/revoke"
		}, logged: "no https address"},
		"a provider with an error": {change: func(p *identityProvider) {
			p.revoking = func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "secret details", http.StatusServiceUnavailable)
			}
		}, logged: "answers 503"},
		"a provider that redirects": {change: func(p *identityProvider) {
			p.revoking = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Has("again") {
					p.forget(r)
				}
				http.Redirect(w, r, "/revoke?again", http.StatusTemporaryRedirect)
			}
		}, logged: "answers 307"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, p, _ := offline(t, c.change)
			s.logsOut()
			s.server.revocations.settle()
			if len(c.want) > 0 {
				p.hasRevoked(t, c.want...)
			} else if gone := p.gone(); len(gone) > 0 {
				t.Errorf("revoked: %v", gone)
			}
			told := strings.Contains(s.logs.String(), "a refresh token is not revoked")
			if told != (c.logged != "") || !strings.Contains(s.logs.String(), c.logged) {
				t.Errorf("want %q in the log: %s", c.logged, s.logs)
			}
			s.tellsNothing()
		})
	}
}

// TestRevocation_ManyTokensDoNotPileUp: only a few wait for a user's last session.
func TestRevocation_ManyTokensDoNotPileUp(t *testing.T) {
	r := newRevocations(nil, func(string) {})
	r.closed = true // nothing is sent
	r.begin(&renewal{subject: "ada"})
	for range 3 * mostOfOne {
		one := &renewal{subject: "ada"}
		r.begin(one)
		r.end(one)
	}
	if n := len(r.left["ada"]); n != mostOfOne {
		t.Errorf("%d wait", n)
	}
	r.end(&renewal{subject: "ada"})
	if len(r.left) > 0 || len(r.living) > 0 {
		t.Errorf("left: %v, living: %v", r.left, r.living)
	}
}
