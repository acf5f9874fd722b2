package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// OIDC configures logins with an identity provider that the cluster also trusts.
type OIDC struct {
	// Issuer is the provider's address, as configured in the cluster.
	Issuer string
	// ClientID and ClientSecret are those of the dashboard. A public client has no secret.
	ClientID, ClientSecret string
	// Scopes are requested besides openid.
	Scopes []string
	// Redirect is the address of /auth/callback as the browser sees it.
	Redirect string
	// Client calls the provider; nil means the default client.
	Client *http.Client
}

// Why a login at the provider failed, as passed to the page /login in ?error=.
const (
	loginFailed   = "login_failed"
	loginExpired  = "login_expired"
	loginRefused  = "login_refused"
	loginNoAnswer = "provider_unreachable"
)

// provider logs users in by authorization code with PKCE.
type provider struct {
	config OIDC
	now    func() time.Time
	// key is what pending logins are derived from; it is created with the server.
	key []byte

	discovering sync.Mutex
	found       *oidc.Provider
}

func newProvider(config OIDC, now func() time.Time) *provider {
	if config.Client == nil {
		config.Client = &http.Client{Timeout: 15 * time.Second}
	}
	return &provider{config: config, now: now, key: []byte(random(32))}
}

// discover reads the provider's addresses, once it answers at a login.
func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.discovering.Lock()
	defer p.discovering.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	// The provider keeps the context for fetching keys later: it must not end with this request.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.config.Client), p.config.Issuer)
	if err == nil {
		p.found = found
	}
	return found, err
}

// oauth returns the configuration of the client at the provider. If the provider offers refresh tokens, one is requested.
func (p *provider) oauth(at *oidc.Provider) *oauth2.Config {
	scopes := append([]string{oidc.ScopeOpenID}, p.config.Scopes...)
	var offers struct {
		Scopes []string `json:"scopes_supported"`
	}
	if at.Claims(&offers) == nil && slices.Contains(offers.Scopes, scopeOffline) && !slices.Contains(scopes, scopeOffline) {
		scopes = append(scopes, scopeOffline)
	}
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: at.Endpoint(), RedirectURL: p.config.Redirect,
		Scopes: scopes,
	}
}

// redeem exchanges a code for the ID token and checks it: signature, issuer, audience, time and nonce. If the check fails, a refresh
// token that came with it is returned with the error.
func (p *provider) redeem(ctx context.Context, one pending, code string) (granted, error) {
	at, err := p.discover(ctx)
	if err != nil {
		return granted{}, err
	}
	ctx = oidc.ClientContext(ctx, p.config.Client)
	given, err := p.oauth(at).Exchange(ctx, code, oauth2.VerifierOption(one.verifier))
	if err != nil {
		return granted{}, err
	}
	token, err := p.check(ctx, at, given)
	if err == nil && !same(token.nonce, one.nonce) {
		err = errors.New("the ID token is of another login")
	}
	if err != nil {
		return granted{refresh: given.RefreshToken}, err
	}
	return token.granted, nil
}

// routeOIDC registers the two steps of a login at the provider.
func (s *Server) routeOIDC() {
	if s.provider == nil {
		return
	}
	s.open("GET /auth/login", s.toProvider)
	s.open("GET /auth/callback", s.fromProvider)
}

// ticketCookie ties a login to the browser that began it. The browser must send it when the provider redirects back, so it is Lax and not
// Strict.
func (s *Server) ticketCookie(w http.ResponseWriter, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the server speaks TLS, or something before it does
		Name: s.cookie("kyma-login"), Value: value, Path: "/", HttpOnly: true, Secure: s.options.secure(), SameSite: http.SameSiteLaxMode,
		MaxAge: int(age / time.Second),
	})
}

// toProvider sends the browser to the provider.
func (s *Server) toProvider(w http.ResponseWriter, r *http.Request) {
	ctx, done := context.WithTimeout(r.Context(), longestAnswer)
	defer done()
	at, err := s.provider.discover(ctx)
	if err != nil {
		s.log.Info("the identity provider does not answer", "issuer", s.provider.config.Issuer, "error", err.Error())
		notLoggedInBecause(w, r, loginNoAnswer)
		return
	}
	ticket := s.provider.newTicket()
	one := s.provider.pendingOf(ticket)
	s.ticketCookie(w, ticket, loginLasts)
	there := s.provider.oauth(at).AuthCodeURL(one.state, oidc.Nonce(one.nonce), oauth2.S256ChallengeOption(one.verifier))
	http.Redirect(w, r, there, http.StatusFound)
}

// fromProvider handles the browser that the provider sends back. Failures are logged without code and state, which are secrets.
func (s *Server) fromProvider(w http.ResponseWriter, r *http.Request) {
	ctx, done := context.WithTimeout(r.Context(), longestAnswer)
	defer done()
	ticket := ""
	if cookie, err := r.Cookie(s.cookie("kyma-login")); err == nil {
		ticket = cookie.Value
	}
	s.ticketCookie(w, "", -time.Second)
	query := r.URL.Query()
	one, valid := s.provider.take(query.Get("state"), ticket)
	switch {
	case !valid:
		notLoggedInBecause(w, r, loginExpired)
		return
	case query.Get("error") != "" || query.Get("code") == "":
		s.log.Info("the identity provider refused a login", "error", clip(query.Get("error"), 100))
		notLoggedInBecause(w, r, loginRefused)
		return
	}
	given, err := s.provider.redeem(ctx, one, query.Get("code"))
	if err != nil {
		s.revocations.discard(given.refresh)
		s.log.Info("a login at the identity provider failed", "error", withoutAnswer(err))
		notLoggedInBecause(w, r, loginFailed)
		return
	}
	u, expires, err := s.arrive(ctx, given)
	if err != nil {
		s.log.Info("the cluster does not accept the identity provider's token", "reason", problemOf(err).Reason)
		notLoggedInBecause(w, r, loginRefused)
		return
	}
	s.begin(w, r, u, expires)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// withoutAnswer returns the text of an error without the provider's answer, which may hold a token.
func withoutAnswer(err error) string {
	var refused *oauth2.RetrieveError
	var unreachable *url.Error
	switch {
	case errors.As(err, &refused):
		return "the provider issued no token: " + clip(refused.ErrorCode, 100)
	case errors.As(err, &unreachable):
		return "the provider does not answer: " + unreachable.Err.Error()
	}
	return clip(err.Error(), 300)
}

// notLoggedInBecause sends the browser to the login page, which explains the reason in its own words.
func notLoggedInBecause(w http.ResponseWriter, r *http.Request, why string) {
	http.Redirect(w, r, "/login?error="+why, http.StatusSeeOther)
}
