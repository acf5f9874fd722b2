package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// revokeWithin is how long the provider may take to revoke a refresh token, and how long the server waits for that at shutdown.
	revokeWithin = 5 * time.Second
	// mostRevoking bounds how many tokens are revoked at once.
	mostRevoking = 4
)

// revocations revokes refresh tokens at the provider when they are no longer needed (RFC 7009). No request waits for it, and a failure is
// logged: the server forgets the token in any case.
//
// Many providers revoke everything that a user has granted a client along with one refresh token. So the token of a session that ended by
// itself, or in favour of another one, is kept until the user has no other session: a user who works on in another browser is not logged
// out. When a user logs out, the token is revoked at once.
type revocations struct {
	revoke func(ctx context.Context, token string) error
	note   func(why string)
	within time.Duration
	slots  chan struct{}

	mutex sync.Mutex
	// living counts the sessions of each user, by subject, and left holds the renewals of sessions that ended before the last one.
	living map[string]int
	left   map[string][]*renewal
	// closed reports whether no more revocations may start.
	closed  bool
	running sync.WaitGroup
}

func newRevocations(revoke func(context.Context, string) error, note func(string)) *revocations {
	return &revocations{
		revoke: revoke, note: note, within: revokeWithin, slots: make(chan struct{}, mostRevoking), living: map[string]int{},
		left: map[string][]*renewal{},
	}
}

// begin counts a session.
func (r *revocations) begin(one *renewal) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.living[one.subject]++
}

// end revokes the token of a session that has ended, now or after the user's last session.
func (r *revocations) end(one *renewal) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.living[one.subject]--; r.living[one.subject] <= 0 {
		r.start(one.surrender)
		for _, old := range r.left[one.subject] {
			r.start(old.surrender)
		}
		delete(r.living, one.subject)
		delete(r.left, one.subject)
		return
	}
	if one.loggedOut.Load() {
		r.start(one.surrender)
		return
	}
	r.left[one.subject] = append(r.left[one.subject], one)
	if left := r.left[one.subject]; len(left) > mostOfOne {
		r.start(left[0].surrender)
		r.left[one.subject] = left[1:]
	}
}

// discard revokes the token of a login that failed.
func (r *revocations) discard(token string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.start(func() string { return token })
}

// start revokes the token that surrender returns, which may take as long as a renewal; the lock is held.
func (r *revocations) start(surrender func() string) {
	if r.closed {
		return
	}
	r.running.Go(func() {
		token := surrender()
		if token == "" {
			return
		}
		ctx, done := context.WithTimeout(context.Background(), r.within)
		defer done()
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
		case <-ctx.Done():
		}
		if err := r.revoke(ctx, token); err != nil {
			r.note(withoutAnswer(err))
		}
	})
}

// settle waits for the revocations that have started, but not for long. None starts after it.
func (r *revocations) settle() {
	r.mutex.Lock()
	r.closed = true
	r.mutex.Unlock()
	done := make(chan struct{})
	go func() {
		r.running.Wait()
		close(done)
	}()
	late := time.NewTimer(r.within)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// revoke revokes a refresh token at the provider, if it supports that. The client authenticates in one of the two ways that providers
// support, as it does to get the token: a provider that accepts only the second refuses the first.
func (p *provider) revoke(ctx context.Context, token string) error {
	at, err := p.discover(ctx)
	if err != nil {
		return err
	}
	var offers struct {
		Endpoint string `json:"revocation_endpoint"`
	}
	if err := at.Claims(&offers); err != nil || offers.Endpoint == "" {
		return err
	}
	if !strings.HasPrefix(offers.Endpoint, "https://") {
		return errors.New("the provider's revocation_endpoint is no https address: nothing is sent there")
	}
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}}
	status := 0
	if p.config.ClientSecret != "" {
		status, err = p.post(ctx, offers.Endpoint, form, true)
	}
	if status == 0 && err == nil || status == http.StatusUnauthorized || status == http.StatusBadRequest {
		form.Set("client_id", p.config.ClientID)
		if p.config.ClientSecret != "" {
			form.Set("client_secret", p.config.ClientSecret)
		}
		status, err = p.post(ctx, offers.Endpoint, form, false)
	}
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the provider answers %d to a revocation", status)
	}
	return err
}

// post sends a form to the provider, with or without the client's credentials in the header. Only the status of the response is used.
func (p *provider) post(ctx context.Context, address string, form url.Values, inHeader bool) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if inHeader {
		request.SetBasicAuth(url.QueryEscape(p.config.ClientID), url.QueryEscape(p.config.ClientSecret))
	}
	client := *p.config.Client
	// The form must not be sent to another address.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	return answer.StatusCode, cmp.Or(err, answer.Body.Close())
}
