package conversion

import (
	"crypto/x509"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var (
	begin = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ours  = want{hosts: []string{"klm.kcp-system.svc", "127.0.0.1"}, lifetime: 90 * time.Hour}
)

// after advances a state, through a Secret each time, until nothing is due at the given time, and returns the number of steps.
func after(t *testing.T, s *state, wait time.Duration, announced bool) int {
	t.Helper()
	for steps := range 5 {
		due, err := s.advance(ours, begin.Add(wait), announced)
		if err != nil {
			t.Fatal(err)
		}
		if !due {
			return steps
		}
		*s = stateOf(&corev1.Secret{Data: s.data()})
	}
	t.Fatal("there is always another step")
	return 0
}

func TestState_TheLifeOfACertificate(t *testing.T) {
	s := state{}
	step := func(what string, wait time.Duration, announced bool, steps, cas int, next bool) {
		t.Helper()
		if got := after(t, &s, wait, announced); got != steps || len(s.bundle) != cas || (s.next != nil) != next {
			t.Fatalf("%s: %d steps, %d CAs, announced %t; want %d, %d, %t", what, got, len(s.bundle), s.next != nil, steps, cas, next)
		}
		if !s.trusts(s.current.ca) || s.current.usable(ours.hosts, begin.Add(wait)) != nil {
			t.Fatalf("%s: what is served is not trusted or not valid", what)
		}
	}
	step("the first", 0, false, 1, 1, false)
	first := s.current.leaf
	step("nothing to do", 59*time.Hour, true, 0, 1, false)
	step("two thirds are over: the next is announced", 60*time.Hour, false, 1, 2, true)
	announced := s.next.leaf
	step("no one has read that yet", 89*time.Hour, false, 0, 2, true)
	step("it is read, but only just", 64*time.Hour, true, 0, 2, true)
	step("it takes over, and the CA before stays trusted", 65*time.Hour, true, 1, 2, false)
	if !s.current.leaf.Equal(announced) || s.current.leaf.Equal(first) {
		t.Error("another certificate serves than was announced")
	}
	step("the one after that", 120*time.Hour, true, 1, 2, true)
	if s.trusts(first) || !s.trusts(s.next.ca) {
		t.Error("the bundle grows")
	}
	due, err := s.advance(ours, begin.Add(500*time.Hour), false)
	if err != nil || !due || s.next != nil || len(s.bundle) != 1 {
		t.Errorf("after a long sleep: %t, %v, %d CAs", due, err, len(s.bundle))
	}
}

func TestState_ACertificateThatCannotServeIsReplacedAtOnce(t *testing.T) {
	made := func(hosts ...string) map[string][]byte {
		p, err := newPair(hosts, begin, ours.lifetime)
		if err != nil {
			t.Fatal(err)
		}
		s := state{current: p, bundle: []*x509.Certificate{p.ca}}
		return s.data()
	}
	good := made(ours.hosts...)
	other := made(ours.hosts...)
	for name, test := range map[string]struct {
		data  map[string][]byte
		steps int
		cas   int
	}{
		"a valid one stays":                  {good, 0, 1},
		"an empty Secret":                    {nil, 1, 1},
		"a certificate for other hosts":      {made("elsewhere.example.com"), 1, 2},
		"a certificate for one of two hosts": {made(ours.hosts[0]), 1, 2},
		"garbage":                            {with(good, corev1.TLSCertKey, []byte("x")), 1, 1},
		"a key of another":                   {with(good, corev1.TLSPrivateKeyKey, other[corev1.TLSPrivateKeyKey]), 1, 1},
		"a bundle without its CA":            {with(good, keyBundle, other[keyBundle]), 1, 1},
		"a bundle that is garbage":           {with(good, keyBundle, []byte("x")), 1, 1},
		"an announced one that is garbage":   {with(good, keyNextChain, []byte("x")), 0, 1},
		"an announced one for other hosts": {
			with(with(good, keyNextChain, made("a")[corev1.TLSCertKey]), keyNextKey, []byte("x")), 0, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateOf(&corev1.Secret{Data: test.data})
			if steps := after(t, &s, time.Hour, true); steps != test.steps || len(s.bundle) != test.cas {
				t.Errorf("%d steps, %d CAs, want %d and %d", steps, len(s.bundle), test.steps, test.cas)
			}
			if s.current.usable(ours.hosts, begin.Add(time.Hour)) != nil || !s.trusts(s.current.ca) {
				t.Error("it cannot serve")
			}
		})
	}
}

func TestState_AnAnnouncedCertificateForOtherHostsIsForgotten(t *testing.T) {
	s := state{}
	after(t, &s, 0, true)
	wrong, err := newPair([]string{"elsewhere.example.com"}, begin, ours.lifetime)
	if err != nil {
		t.Fatal(err)
	}
	s.next = wrong
	if after(t, &s, time.Hour, true); s.next != nil || s.current.leaf.Equal(wrong.leaf) {
		t.Error("it is kept")
	}
}

func with(data map[string][]byte, key string, value []byte) map[string][]byte {
	changed := maps.Clone(data)
	changed[key] = value
	return changed
}
