package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"time"
)

// loginLasts is how long a user may take to log in at the provider.
const loginLasts = 10 * time.Minute

// pending is a login in progress at the provider. The server stores nothing of it, so that starting many logins does not lock out others:
// it is derived from the ticket, which only the browser that began it has, and a key, which only this server has. It is valid once, since
// the provider accepts its code once, and the browser deletes the ticket.
type pending struct {
	// state comes back with the browser, and proves that this server sent it to the provider with this very ticket.
	state string
	// nonce ties the ID token to the login, and verifier the code (PKCE).
	nonce, verifier string
}

// newTicket returns the ticket of a login that begins now: random text, and when it ends. If either is changed, no state matches.
func (p *provider) newTicket() string {
	return random(32) + "." + strconv.FormatInt(p.now().Add(loginLasts).Unix(), 10)
}

// pendingOf returns the login of a ticket.
func (p *provider) pendingOf(ticket string) pending {
	return pending{state: p.derived("state", ticket), nonce: p.derived("nonce", ticket), verifier: p.derived("verifier", ticket)}
}

// derived returns text that belongs to a ticket, and reveals nothing about the other texts derived from it.
func (p *provider) derived(what, ticket string) string {
	sum := hmac.New(sha256.New, p.key)
	_, _ = io.WriteString(sum, what+" "+ticket) // never fails
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// take returns the login of the browser's ticket, and whether the state belongs to it and it has not ended.
func (p *provider) take(state, ticket string) (pending, bool) {
	_, end, _ := strings.Cut(ticket, ".")
	seconds, err := strconv.ParseInt(end, 10, 64)
	one := p.pendingOf(ticket)
	return one, same(state, one.state) && err == nil && p.now().Before(time.Unix(seconds, 0))
}
