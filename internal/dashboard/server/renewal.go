package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

const (
	// renewBefore is how long before its expiry a token is renewed, at most.
	renewBefore = time.Minute
	// renewAgain is the pause before the next request to a provider that did not respond.
	renewAgain = 10 * time.Second
	// scopeOffline requests a refresh token.
	scopeOffline = "offline_access"
)

// granted holds what a provider issued for a login.
type granted struct {
	// raw is the ID token, subject its user.
	raw, subject string
	expires      time.Time
	// due is when the next ID token is requested: before this one expires, but not with every request if tokens are very short-lived.
	due time.Time
	// refresh is the refresh token for the next ID token; empty if the provider issues none.
	refresh string
}

// renewal provides the ID token of one session, and gets the next one from the provider when it is about to expire. The tokens stay in
// memory. It is an oauth2.TokenSource.
type renewal struct {
	provider *provider
	// subject is the user of the session.
	subject string
	// ended reports whether the session has ended, refused ends it, and note writes to the log.
	ended   func() bool
	refused func()
	note    func(why string)

	mutex sync.Mutex
	has   granted
	over  bool
	// again is the earliest time of the next request to a provider that did not answer.
	again time.Time
	// loggedOut reports whether the user has logged out.
	loggedOut atomic.Bool
}

var _ oauth2.TokenSource = (*renewal)(nil)

// into returns a connection that uses, for each request, the token that is valid then.
func (r *renewal) into(base *rest.Config) *rest.Config {
	config := rest.AnonymousClientConfig(base)
	config.QPS = -1
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper { return &oauth2.Transport{Source: r, Base: next} }
	return config
}

// Token returns the ID token that is valid now:
//
//  1. the current one, if it is far from its expiry
//  2. a new one, of the same user, while the session lasts
//  3. if the provider refuses, none: the user is no longer authenticated, and the session ends. It also ends with the token if the
//     provider's new one cannot be verified
//  4. if the provider does not answer, the current one until it expires; the next request follows a little later
//
// Errors contain nothing of the provider's answer, which may be secret.
func (r *renewal) Token() (*oauth2.Token, error) {
	r.mutex.Lock()
	err := r.renew()
	token := &oauth2.Token{AccessToken: r.has.raw, TokenType: "Bearer"}
	over := r.over
	r.mutex.Unlock()
	if over {
		r.refused()
	}
	if err != nil {
		return nil, err
	}
	return token, nil
}

// renew brings the token up to date; the lock is held.
func (r *renewal) renew() error {
	now := r.provider.now()
	lasts := now.Before(r.has.expires)
	switch {
	case r.over:
		return apierrors.NewUnauthorized("the identity provider has ended this login")
	case now.Before(r.has.due), lasts && (r.ended() || now.Before(r.again)):
		return nil
	case r.ended():
		return apierrors.NewUnauthorized("the session has ended")
	case now.Before(r.again):
		return r.silent()
	}
	next, err := r.provider.renewed(r.has)
	switch {
	case err == nil:
		r.has = next
		return nil
	case next.refresh != "":
		r.has.refresh = next.refresh // the previous one may be used up
	}
	r.note(withoutAnswer(err))
	if refusedBy(err) || errors.Is(err, errUnchecked) && !lasts {
		r.over = true
		return apierrors.NewUnauthorized("the identity provider has ended this login")
	}
	r.again = now.Add(renewAgain)
	if lasts {
		return nil
	}
	return r.silent()
}

// surrender removes and returns the refresh token of a session that has ended. It waits for a renewal in progress.
func (r *renewal) surrender() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	token := r.has.refresh
	r.has.refresh = ""
	return token
}

func (*renewal) silent() error {
	return fail(http.StatusBadGateway, WhyUnreachable,
		"the identity provider does not answer, so that your login cannot be renewed: try again soon")
}

var (
	// errNotTheSame is an answer to a refresh that does not renew this login.
	errNotTheSame = errors.New("the provider does not renew this login: its answer has no ID token of the same person")
	// errUnchecked is an answer whose ID token has a wrong signature, issuer, audience or time, or whose key is not available at the moment.
	errUnchecked = errors.New("the ID token that the provider gave in place of the last one cannot be verified")
)

// refusedBy reports whether the provider answered and refused. An error of the provider itself is no refusal.
func refusedBy(err error) bool {
	if answered, is := errors.AsType[*oauth2.RetrieveError](err); is {
		return answered.Response == nil || answered.Response.StatusCode < http.StatusInternalServerError &&
			answered.Response.StatusCode != http.StatusTooManyRequests
	}
	return errors.Is(err, errNotTheSame)
}

// renewed gets the next ID token. It must belong to the same user, and is checked like the first one, except for the nonce, which
// providers may leave out.
func (p *provider) renewed(has granted) (granted, error) {
	ctx, done := context.WithTimeout(context.Background(), longestAnswer)
	defer done()
	at, err := p.discover(ctx)
	if err != nil {
		return granted{}, err
	}
	ctx = oidc.ClientContext(ctx, p.config.Client)
	given, err := p.oauth(at).TokenSource(ctx, &oauth2.Token{RefreshToken: has.refresh}).Token()
	if err != nil {
		return granted{}, err
	}
	next, err := p.check(ctx, at, given)
	switch {
	case err != nil && !errors.Is(err, errNoIDToken):
		return granted{refresh: given.RefreshToken}, errUnchecked
	case err != nil, next.subject != has.subject:
		return granted{refresh: given.RefreshToken}, errNotTheSame
	}
	return next.granted, nil
}

var errNoIDToken = errors.New("the provider gave no ID token")

// verified is what a provider issued, with an ID token that was verified.
type verified struct {
	granted
	nonce string
}

// check verifies the ID token that came with an answer: signature, issuer, audience and time.
func (p *provider) check(ctx context.Context, at *oidc.Provider, given *oauth2.Token) (verified, error) {
	raw, _ := given.Extra("id_token").(string)
	if raw == "" {
		return verified{}, errNoIDToken
	}
	token, err := at.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return verified{}, err
	}
	due := token.Expiry.Add(-min(renewBefore, token.Expiry.Sub(p.now())/4))
	return verified{granted{raw, token.Subject, token.Expiry, due, given.RefreshToken}, token.Nonce}, nil
}

// arrive returns the user of a login at the provider, and when the session ends: with the token, or, if the token can be renewed, at no
// fixed time, but when a renewal is refused.
func (s *Server) arrive(ctx context.Context, given granted) (*User, time.Time, error) {
	if given.refresh == "" {
		u, err := s.person(ctx, given.raw)
		return u, given.expires, err
	}
	var u *User
	r := &renewal{
		provider: s.provider, subject: given.subject, has: given,
		ended:   func() bool { return u != nil && u.ended.Load() },
		refused: func() { s.sessions.dropUser(u) },
		note:    func(why string) { s.log.Info("a login is not renewed", "why", why) },
	}
	var err error
	if u, err = s.identify(ctx, r.into(s.self.Config)); err != nil {
		s.revocations.discard(r.surrender())
		return nil, time.Time{}, err
	}
	u.renewal = r
	s.revocations.begin(r)
	return u, time.Time{}, nil
}

// leave handles the end of a user's session.
func (s *Server) leave(u *User) {
	s.watches.forget(u)
	if u.renewal != nil {
		s.revocations.end(u.renewal)
	}
}
