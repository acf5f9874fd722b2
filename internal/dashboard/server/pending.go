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

// pending is a login that is on its way at the provider. Nothing of it is kept here, so that starting many does not lock out others: it
// follows from the ticket, which only the browser has that began it, and a key, which only this server has. It is good once, since the
// provider takes its code once, and the browser is told to forget the ticket.
type pending struct {
	// state comes back with the browser, and shows that this server sent it to the provider with this very ticket.
	state string
	// nonce ties the ID token to it, and verifier the code (PKCE).
	nonce, verifier string
}

// newTicket returns that of a login that begins now: random text, and when it ends. Who changes either has no state for it.
func (p *provider) newTicket() string {
	return random(32) + "." + strconv.FormatInt(p.now().Add(loginLasts).Unix(), 10)
}

// pendingOf returns the login of a ticket.
func (p *provider) pendingOf(ticket string) pending {
	return pending{state: p.derived("state", ticket), nonce: p.derived("nonce", ticket), verifier: p.derived("verifier", ticket)}
}

// derived is text that belongs to a ticket, and tells nothing of what else does.
func (p *provider) derived(what, ticket string) string {
	sum := hmac.New(sha256.New, p.key)
	_, _ = io.WriteString(sum, what+" "+ticket) // never fails
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// take returns the login that comes back with a state to the browser that has its ticket.
func (p *provider) take(state, ticket string) (pending, bool) {
	_, end, _ := strings.Cut(ticket, ".")
	seconds, err := strconv.ParseInt(end, 10, 64)
	one := p.pendingOf(ticket)
	return one, same(state, one.state) && err == nil && p.now().Before(time.Unix(seconds, 0))
}
