package contentserver

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailures is how many reviews one address may have refused at once, and oneFailure the time until one of them is forgiven.
	maxFailures = 10
	oneFailure  = 6 * time.Second
	// maxAddresses bounds what is remembered; addresses beyond it share one allowance.
	maxAddresses = 4096
)

// throttle gives every address an allowance of failures. One that has none left is answered without a call, because each wrong token
// costs the API server a review. Known clients do not come here, so another client behind the same proxy can only hinder
// new ones.
type throttle struct {
	mu        sync.Mutex
	addresses map[netip.Prefix]*allowance
}

type allowance struct {
	left float64
	at   time.Time
}

func newThrottle() *throttle { return &throttle{addresses: map[netip.Prefix]*allowance{}} }

// take uses up one failure in advance, so that requests at the same time cannot share it; a success gives it back. When there is none,
// wait says when there will be.
func (t *throttle) take(address netip.Prefix, now time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.of(address, now)
	a.recover(now)
	if a.left < 1 {
		return time.Duration((1 - a.left) * float64(oneFailure)), false
	}
	a.left--
	return 0, true
}

func (t *throttle) giveBack(address netip.Prefix, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.of(address, now)
	a.left = min(maxFailures, a.left+1)
}

func (t *throttle) of(address netip.Prefix, now time.Time) *allowance {
	if known := t.addresses[address]; known != nil {
		return known
	}
	if len(t.addresses) >= maxAddresses {
		t.forget(now)
	}
	if len(t.addresses) >= maxAddresses {
		address = netip.Prefix{}
	}
	if t.addresses[address] == nil {
		t.addresses[address] = &allowance{left: maxFailures, at: now}
	}
	return t.addresses[address]
}

// forget drops the addresses that have everything forgiven.
func (t *throttle) forget(now time.Time) {
	for address, a := range t.addresses {
		if a.recover(now); a.left >= maxFailures {
			delete(t.addresses, address)
		}
	}
}

func (a *allowance) recover(now time.Time) {
	if passed := now.Sub(a.at); passed > 0 {
		a.left = min(maxFailures, a.left+float64(passed)/float64(oneFailure))
		a.at = now
	}
}

// addressOf returns the peer of a connection: one IPv4 address, or the IPv6 network that one site has at least. Headers that claim another
// address are not believed.
func addressOf(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	address = address.Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
