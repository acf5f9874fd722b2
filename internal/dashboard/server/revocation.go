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
	// revokeWithin is how long the provider may take to revoke a refresh token, and how long the server waits for that at its end.
	revokeWithin = 5 * time.Second
	// mostRevoking bounds how many are revoked at once.
	mostRevoking = 4
)

// revocations tell the provider of refresh tokens that are not needed any more (RFC 7009). No request waits for them, and one that does not
// work out is logged: the token is forgotten here in any case.
//
// Many providers end everything that a user has given a client along with one refresh token. So that of a session which ended by itself,
// or in favour of another one, is kept until the user has no other session: who works on in another browser is not logged out. Who logs
// out has the token revoked at once.
type revocations struct {
	revoke func(ctx context.Context, token string) error
	note   func(why string)
	within time.Duration
	slots  chan struct{}

	mutex sync.Mutex
	// living counts the sessions of a user, by subject, and left are the renewals of those that have ended before the last.
	living map[string]int
	left   map[string][]*renewal
	// closed reports whether nothing more is begun.
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

// end is for a session that has ended.
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

// discard is for what was given for a login that came to nothing.
func (r *revocations) discard(token string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.start(func() string { return token })
}

// start revokes what surrender gives, which may take as long as a renewal; the lock is held.
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

// settle waits for what was begun, but not for long. Nothing is begun after it.
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

// revoke asks the provider to revoke a refresh token, if it offers that. The dashboard says who it is in one of the two ways that providers
// know, like for the token itself: those that take only the other one refuse the first.
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

// post sends a form to the provider, with the client in the header or without. The answer says nothing but its status.
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
