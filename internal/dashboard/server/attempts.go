package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/time/rate"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const (
	// mostFailures is how many logins may fail at once; after that, one more may fail every failureEvery.
	mostFailures = 10
	failureEvery = 6 * time.Second
	// signersPath is where an API server publishes the keys that sign ServiceAccount tokens.
	signersPath = "/openid/v1/jwks"
	// signersAgain is the minimum time between two reads of the keys.
	signersAgain = time.Minute
	// mostRefused bounds how many refused tokens are remembered.
	mostRefused = 1000
)

// attempts bounds failed logins, for all clients together. A login in progress counts as failed, so that parallel logins cannot exceed
// the bound; a successful login costs nothing.
type attempts struct {
	failures *rate.Limiter

	mutex  sync.Mutex
	judged int
}

func newAttempts() *attempts {
	return &attempts{failures: rate.NewLimiter(rate.Every(failureEvery), mostFailures)}
}

// fail counts a failed login, and reports whether it was still allowed.
func (a *attempts) fail() bool { return a.failures.Allow() }

// begin requests permission to check a login. The caller reports the result by calling end.
func (a *attempts) begin() (end func(failed bool), allowed bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.failures.Tokens() < float64(a.judged+1) {
		return nil, false
	}
	a.judged++
	return func(failed bool) {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.judged--
		if failed {
			a.failures.Allow()
		}
	}, true
}

// signers distinguish tokens that the cluster has signed from invented ones, without a request for each. They authenticate no user: only
// the cluster can decide whether a token is still valid.
type signers struct {
	cluster *rest.Config
	now     func() time.Time

	mutex sync.Mutex
	keys  jose.JSONWebKeySet
	// again is when the keys may be read next.
	again time.Time
	// refused holds the hashes of tokens that the cluster does not accept, some of which it has signed.
	refused map[[sha256.Size]byte]bool
}

// signed reports whether a token was signed by the cluster and has not expired.
func (s *signers) signed(ctx context.Context, token string) bool {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES384, jose.ES512})
	if err != nil || len(parsed.Headers) != 1 {
		return false
	}
	var claims jwt.Claims
	return parsed.Claims(s.of(ctx, parsed.Headers[0].KeyID), &claims) == nil &&
		claims.ValidateWithLeeway(jwt.Expected{Time: s.now()}, time.Minute) == nil
}

// of returns the keys of the cluster. They are read again if the named one is not among them, though not often: any client can name one.
func (s *signers) of(ctx context.Context, name string) jose.JSONWebKeySet {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if now := s.now(); len(s.keys.Key(name)) == 0 && !now.Before(s.again) {
		s.again = now.Add(signersAgain)
		if read, err := s.read(ctx); err == nil {
			s.keys = read
		}
	}
	return s.keys
}

// read requests the keys from the cluster. If that is not allowed, every token without a session counts as invented.
func (s *signers) read(ctx context.Context) (keys jose.JSONWebKeySet, err error) {
	ctx, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	c, err := discovery.NewDiscoveryClientForConfig(s.cluster)
	if err != nil {
		return keys, err
	}
	text, err := c.RESTClient().Get().AbsPath(signersPath).DoRaw(ctx)
	if err != nil {
		return keys, err
	}
	return keys, json.Unmarshal(text, &keys)
}

// refuses reports whether the cluster does not accept a token, as far as that is remembered.
func (s *signers) refuses(token string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.refused[sha256.Sum256([]byte(token))]
}

// refuse remembers a token that the cluster does not accept.
func (s *signers) refuse(token string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.refused == nil || len(s.refused) >= mostRefused {
		s.refused = map[[sha256.Size]byte]bool{}
	}
	s.refused[sha256.Sum256([]byte(token))] = true
}
