package contentserver

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailures is the number of refused reviews that one address may have at once, and oneFailure the time after which one of them no
	// longer counts.
	maxFailures = 10
	oneFailure  = 6 * time.Second
	// maxAddresses bounds the number of addresses; those beyond it share one allowance.
	maxAddresses = 4096
)

// throttle gives every address an allowance of failures. A request from an address with none left is refused without a review, because each
// wrong token costs the API server one. Clients with a cached permission are not throttled, so another client behind the same proxy can
// only affect new ones.
type throttle struct {
	mu        sync.Mutex
	addresses map[netip.Prefix]*allowance
}

type allowance struct {
	left float64
	at   time.Time
}

func newThrottle() *throttle { return &throttle{addresses: map[netip.Prefix]*allowance{}} }

// take uses up one failure in advance, so that concurrent requests cannot share it; a success gives it back. When none is left, wait is the
// time until there is one.
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

// forget removes the addresses that have their whole allowance.
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

// addressOf returns the peer of a connection: one IPv4 address, or the IPv6 network that a single site has at least. Headers that name
// another address are ignored.
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
