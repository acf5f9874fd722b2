package contentserver

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var start0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestAllowanceOfFailures(t *testing.T) {
	one, other := addressOf("192.0.2.1:1"), addressOf("192.0.2.2:1")
	limits := newThrottle()
	for i := range maxFailures {
		if _, ok := limits.take(one, start0); !ok {
			t.Fatalf("failure %d is refused", i)
		}
	}
	if wait, ok := limits.take(one, start0); ok || wait != oneFailure {
		t.Errorf("one too many: %v, wait %s", ok, wait)
	}
	if _, ok := limits.take(other, start0); !ok {
		t.Error("another address pays for it")
	}
	limits.giveBack(one, start0)
	if _, ok := limits.take(one, start0); !ok {
		t.Error("what was given back is gone")
	}
	if _, ok := limits.take(one, start0.Add(oneFailure)); !ok {
		t.Error("nothing is forgiven")
	}
	if _, ok := limits.take(one, start0.Add(oneFailure)); ok {
		t.Error("too much is forgiven")
	}
	later := start0.Add(time.Hour)
	for range maxFailures {
		limits.giveBack(one, later)
	}
	for range maxFailures {
		limits.take(one, later)
	}
	if _, ok := limits.take(one, later); ok {
		t.Error("more is saved up than the allowance")
	}
}

func TestAllowanceIsNotSharedByRequestsAtTheSameTime(t *testing.T) {
	limits, address := newThrottle(), addressOf("192.0.2.1:1")
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, ok := limits.take(address, start0); ok {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != maxFailures {
		t.Errorf("%d requests went through, want %d", taken.Load(), maxFailures)
	}
}

func TestThrottle_ManyAddressesAreBounded(t *testing.T) {
	limits := newThrottle()
	for i := range 2 * maxAddresses {
		limits.take(addressOf(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)), start0)
	}
	if len(limits.addresses) > maxAddresses+1 {
		t.Errorf("%d addresses are kept", len(limits.addresses))
	}
	if _, ok := limits.take(addressOf("192.0.2.77:1"), start0); ok {
		t.Error("addresses beyond the bound should share one allowance, which is used up")
	}
	if _, ok := limits.take(addressOf("192.0.2.77:1"), start0.Add(time.Hour)); !ok || len(limits.addresses) > 2 {
		t.Errorf("those that were forgiven are kept: %d", len(limits.addresses))
	}
}

func TestAddressOf(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:55":                 "192.0.2.1/32",
		"[::ffff:192.0.2.1]:55":        "192.0.2.1/32",
		"[2001:db8:1:2:3:4:5:6]:55":    "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1]:55":    "2001:db8:1:2::/64",
		"[fe80::1%eth0]:55":            "fe80::/64",
		"@":                            "",
		"no address:55":                "",
		"192.0.2.1, 198.51.100.7:4711": "",
	} {
		expected := netip.Prefix{}
		if want != "" {
			expected = netip.MustParsePrefix(want)
		}
		if got := addressOf(remote); got != expected {
			t.Errorf("%q is %s, want %s", remote, got, want)
		}
	}
}
