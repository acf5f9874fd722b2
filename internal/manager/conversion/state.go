package conversion

import (
	"crypto/x509"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Keys of the Secret.
const (
	keyBundle    = "ca.crt"
	keyNextChain = "next.crt"
	keyNextKey   = "next.key"
)

// state is the content of the Secret: the pair that is served, the one that is announced, and the CAs that API servers must trust.
type state struct {
	current, next *pair
	bundle        []*x509.Certificate
}

// want holds the properties of new certificates.
type want struct {
	hosts    []string
	lifetime time.Duration
}

// stateOf parses a Secret; parts that cannot be parsed count as absent.
func stateOf(secret *corev1.Secret) state {
	if secret == nil {
		return state{}
	}
	result := state{bundle: decode(secret.Data[keyBundle])}
	if p, err := parsePair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err == nil {
		result.current = p
	}
	if p, err := parsePair(secret.Data[keyNextChain], secret.Data[keyNextKey]); err == nil {
		result.next = p
	}
	return result
}

// data returns the data of a Secret with this state.
func (s *state) data() map[string][]byte {
	data := map[string][]byte{
		corev1.TLSCertKey: s.current.chain, corev1.TLSPrivateKeyKey: s.current.key, keyBundle: s.caBundle(),
	}
	if s.next != nil {
		data[keyNextChain], data[keyNextKey] = s.next.chain, s.next.key
	}
	return data
}

func (s *state) caBundle() []byte {
	var all [][]byte
	for _, ca := range s.bundle {
		all = append(all, ca.Raw)
	}
	return encode(all...)
}

func (s *state) trusts(ca *x509.Certificate) bool { return slices.ContainsFunc(s.bundle, ca.Equal) }

// renewal returns when the successor of the current pair must be created: after two thirds of its lifetime.
func (s *state) renewal() time.Time { return s.current.issued().Add(s.current.lifetime() / 3 * 2) }

// takeover returns when the announced pair may serve. API servers then have had some time to read the bundle, and most of the rest of the
// current pair's lifetime is left in case they have not.
func (s *state) takeover() time.Time { return s.next.issued().Add(s.next.lifetime() / 20) }

// advance takes the one step that is due, and reports whether there was one. announced means that the definitions have the whole bundle.
//  1. A current pair that cannot serve is replaced at once; its CA stays trusted unless it has expired.
//  2. The CA of the current pair, or of the announced one, is added to a bundle without it.
//  3. An announced pair that cannot serve is dropped.
//  4. A pair that was announced long enough becomes the current one. The CA of its predecessor stays trusted until the next pair is
//     announced: other replicas may still serve it.
//  5. When the current pair is due for renewal, its successor is announced.
func (s *state) advance(w want, now time.Time, announced bool) (bool, error) {
	switch {
	case !serves(s.current, w, now):
		return true, s.replace(w, now)
	case !s.trusts(s.current.ca) || s.next != nil && !s.trusts(s.next.ca):
		s.bundle = []*x509.Certificate{s.current.ca}
		if s.next != nil {
			s.bundle = append(s.bundle, s.next.ca)
		}
		return true, nil
	case s.next != nil && !serves(s.next, w, now):
		s.next = nil
		return true, nil
	case s.next != nil && announced && !now.Before(s.takeover()):
		s.current, s.next = s.next, nil
		return true, nil
	case s.next == nil && !now.Before(s.renewal()):
		next, err := newPair(w.hosts, now, w.lifetime)
		if err != nil {
			return false, err
		}
		s.next, s.bundle = next, []*x509.Certificate{next.ca, s.current.ca}
		return true, nil
	}
	return false, nil
}

func serves(p *pair, w want, now time.Time) bool { return p != nil && p.usable(w.hosts, now) == nil }

// replace creates a new current pair.
func (s *state) replace(w want, now time.Time) error {
	made, err := newPair(w.hosts, now, w.lifetime)
	if err != nil {
		return err
	}
	bundle := []*x509.Certificate{made.ca}
	if s.current != nil && now.Before(s.current.ca.NotAfter) {
		bundle = append(bundle, s.current.ca)
	}
	*s = state{current: made, bundle: bundle}
	return nil
}

// due returns when the next step can be taken, if nothing else happens.
func (s *state) due() time.Time {
	if s.next != nil {
		return s.takeover()
	}
	return s.renewal()
}
