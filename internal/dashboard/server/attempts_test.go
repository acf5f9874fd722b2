package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"
)

// clusterStub judges tokens as an API server does, signs some, and counts its requests.
type clusterStub struct {
	*testing.T
	*httptest.Server
	key   *ecdsa.PrivateKey
	pages http.Handler

	mutex         sync.Mutex
	right         map[string]bool
	reviews, keys int
}

func newClusterStub(t *testing.T) *clusterStub {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &clusterStub{T: t, key: key, right: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", c.review)
	mux.HandleFunc("GET /openid/v1/jwks", func(w http.ResponseWriter, _ *http.Request) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.keys++
		send(w, map[string]any{"keys": []any{jose.JSONWebKey{Key: key.Public(), KeyID: "one", Algorithm: "ES256", Use: "sig"}}})
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	server, err := New(Options{Mode: ModeCluster, PlainHTTP: true, Config: &rest.Config{Host: c.URL}})
	if err != nil {
		t.Fatal(err)
	}
	server.attempts.failures.SetLimit(rate.Every(time.Hour)) // however slow the machine is
	c.pages = server.Handler()
	return c
}

func (c *clusterStub) review(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.reviews++
	w.Header().Set("Content-Type", "application/json")
	if !c.right[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
		w.WriteHeader(http.StatusUnauthorized)
		send(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Unauthorized", "code": 401})
		return
	}
	w.WriteHeader(http.StatusCreated)
	send(w, map[string]any{
		"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
		"status": map[string]any{"userInfo": map[string]any{"username": "ada"}},
	})
}

// reviewed returns the number of tokens that the cluster has judged.
func (c *clusterStub) reviewed() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.reviews
}

func (c *clusterStub) accept(token string) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.right[token] = true
	return token
}

// sign makes a token.
func (c *clusterStub) sign(key *ecdsa.PrivateKey, id, subject string, lasts time.Duration) string {
	c.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		c.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: subject, Expiry: jwt.NewNumericDate(time.Now().Add(lasts))}).Serialize()
	if err != nil {
		c.Fatal(err)
	}
	return token
}

// logIn returns the status of a login.
func (c *clusterStub) logIn(token string) int {
	request := httptest.NewRequestWithContext(c.Context(), http.MethodPost, "/api/v1/session", strings.NewReader(`{"token":"`+token+`"}`))
	request.Header.Set("Content-Type", "application/json")
	out := httptest.NewRecorder()
	c.pages.ServeHTTP(out, request)
	return out.Code
}

// guess tries invented tokens, all at once, until no more are judged. It returns how many of them reached the cluster.
func (c *clusterStub) guess() int {
	c.Helper()
	const many = 60
	before := c.reviewed()
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { c.logIn(fmt.Sprintf("guess-%d", i)) })
	}
	all.Wait()
	if status := c.logIn("guess"); status != http.StatusTooManyRequests {
		c.Errorf("after %d guesses one more is answered with %d", many, status)
	}
	return c.reviewed() - before
}

// TestGuessesDoNotReachTheCluster: only the few that may fail do.
func TestGuessesDoNotReachTheCluster(t *testing.T) {
	c := newClusterStub(t)
	if asked := c.guess(); asked != mostFailures {
		t.Errorf("the cluster was asked about %d tokens, want %d", asked, mostFailures)
	}
}

// TestGuessesKeepNobodyOut: a user with the token of a session, or with one that the cluster has signed, can still log in.
func TestGuessesKeepNobodyOut(t *testing.T) {
	c := newClusterStub(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	known := c.accept("known")
	if status := c.logIn(known); status != http.StatusOK {
		t.Fatalf("the right token is answered with %d", status)
	}
	c.guess()
	refused := c.sign(c.key, "one", "deleted", time.Hour)
	for _, step := range []struct {
		sentence, token string
		status, asked   int
	}{
		{"a token that has a session", known, http.StatusOK, 1},
		{"a token that the cluster has signed", c.accept(c.sign(c.key, "one", "ada", time.Hour)), http.StatusOK, 1},
		{"one that it has signed and no longer accepts", refused, http.StatusUnauthorized, 1},
		{"the same again", refused, http.StatusTooManyRequests, 0},
		{"one that has expired", c.sign(c.key, "one", "late", -time.Hour), http.StatusTooManyRequests, 0},
		{"one that another key has signed", c.sign(stranger, "one", "eve", time.Hour), http.StatusTooManyRequests, 0},
		{"one by an unknown key", c.sign(stranger, "two", "eve", time.Hour), http.StatusTooManyRequests, 0},
		{"one by another unknown key", c.sign(stranger, "three", "eve", time.Hour), http.StatusTooManyRequests, 0},
	} {
		before := c.reviewed()
		if status := c.logIn(step.token); status != step.status || c.reviewed()-before != step.asked {
			t.Errorf("%s: status %d after %d questions, want %d after %d", step.sentence, status, c.reviewed()-before, step.status, step.asked)
		}
	}
	if c.keys != 1 {
		t.Errorf("the keys were read %d times", c.keys)
	}
}

// TestAttempts_ARightTokenCostsNothing: many successful logins are no attack.
func TestAttempts_ARightTokenCostsNothing(t *testing.T) {
	c := newClusterStub(t)
	for i := range 3 * mostFailures {
		if status := c.logIn(c.accept(fmt.Sprintf("right-%d", i))); status != http.StatusOK {
			t.Fatalf("login %d is answered with %d", i+1, status)
		}
	}
}
