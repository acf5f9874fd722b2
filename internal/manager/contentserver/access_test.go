package contentserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAccess_WhoMayRead(t *testing.T) {
	f, other := newFixture(t), newFixture(t)
	stranger := other.reader()
	f.reader()
	for name, test := range map[string]struct {
		token  string
		change func(*http.Request)
		code   int
		says   []string
	}{
		"an account with the permission":         {token: f.token("reader"), code: 200},
		"the scheme in other letter case":        {change: header("Authorization", "bEARER "+f.token("reader")), code: 200},
		"the permission for this Manifest only":  {token: f.account("this", rule("manifests/content", "get", "sample")), code: 200},
		"no token":                               {code: 401, says: []string{"Authorization: Bearer"}},
		"an empty token":                         {change: header("Authorization", "Bearer  "), code: 401, says: []string{"missing"}},
		"a password":                             {change: header("Authorization", "Basic dXNlcjpwYXNz"), code: 401, says: []string{"missing"}},
		"an unknown token":                       {token: "made-up", code: 401, says: []string{"does not accept this token"}},
		"a token with a changed signature":       {token: flip(f.token("reader")), code: 401},
		"a token for another audience":           {token: f.token("reader", "somebody-else"), code: 401, says: []string{"audience"}},
		"a token that is too long":               {token: strings.Repeat("x", maxToken+1), code: 401, says: []string{"longer"}},
		"an account without any permission":      {token: f.account("none"), code: 403, says: []string{":none", "manifests/content", `"sample"`, f.namespace, "Role"}},
		"the permission for the Manifest itself": {token: f.account("itself", rule("manifests", "get")), code: 403},
		"the right to list":                      {token: f.account("lister", rule("manifests/content", "list")), code: 403},
		"the permission for another Manifest":    {token: f.account("another", rule("manifests/content", "get", "other")), code: 403},
		"the permission in another namespace":    {token: stranger, code: 403, says: []string{other.namespace + ":reader"}},
		"the permission in another API group":    {token: f.account("group", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"manifests/content"}, Verbs: []string{"get"}}), code: 403},
	} {
		t.Run(name, func(t *testing.T) {
			f.pass(time.Minute) // each case starts with the address's whole allowance
			var changes []func(*http.Request)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			answer := f.get(test.token, "/sample", changes...)
			want(t, answer, test.code, test.says...)
			if challenge := answer.Header().Get("WWW-Authenticate"); (challenge != "") != (test.code == 401) {
				t.Errorf("WWW-Authenticate is %q", challenge)
			}
			if test.token != "" && strings.Contains(answer.Body.String(), test.token) {
				t.Error("the answer repeats the token")
			}
		})
	}
	if logged := f.logged.all(); logged != "" {
		t.Errorf("refusing a user is logged: %s", logged)
	}
}

func header(key, value string) func(*http.Request) {
	return func(req *http.Request) { req.Header.Set(key, value) }
}

// flip changes the fourth character from the end of a token, which is in its signature.
func flip(token string) string {
	b := []byte(token)
	if i := len(b) - 4; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

func TestAccess_WhatExistsIsToldToThoseWhoMayReadOnly(t *testing.T) {
	f := newFixture(t)
	f.contents = func(context.Context, string, string) ([]Item, error) { return nil, ErrNotFound }
	want(t, f.get(f.account("none"), "/sample"), 403)
	want(t, f.get("", "/sample"), 401)
	want(t, f.get(f.reader(), "/sample"), 404, "does not exist")
}

func TestNamesThatCannotExistAreNotAskedFor(t *testing.T) {
	f := newFixture(t)
	token := f.account("this", rule("manifests/content", "get", "sample"))
	for name, path := range map[string]string{
		"a slash in the name":     "/a%2Fb",
		"an upper-case name":      "/Sample",
		"a wildcard":              "/*",
		"a name that is a parent": "/%2E%2E/x/y",
		"a blank":                 "/%20/install",
		"a name that is too long": "/" + strings.Repeat("a", 254),
	} {
		t.Run(name, func(t *testing.T) {
			if code := f.get(token, path).Code; code != 400 && code != 404 && code != 307 {
				t.Errorf("the answer is %d", code)
			}
		})
	}
	want(t, f.get(token, "/"), 404, "<namespace>/<name>")
	if n := f.reviews.tokens.Load() + f.reviews.access.Load(); n != 0 {
		t.Errorf("the API server was asked %d times", n)
	}
}

func TestAnswersAreRememberedForAWhile(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	asked := func(tokens, access int32, why string) {
		t.Helper()
		if got := f.reviews.tokens.Swap(0); got != tokens {
			t.Errorf("%s: %d TokenReviews, want %d", why, got, tokens)
		}
		if got := f.reviews.access.Swap(0); got != access {
			t.Errorf("%s: %d SubjectAccessReviews, want %d", why, got, access)
		}
	}
	for range 5 {
		want(t, f.get(token, "/sample"), 200)
	}
	asked(1, 1, "five requests with one token")
	want(t, f.get(token, "/other/bundle"), 200)
	asked(0, 1, "another Manifest")
	want(t, f.get(f.token("reader"), "/sample"), 200)
	asked(1, 1, "another token of the same account")
	f.pass(rememberYes - time.Second)
	want(t, f.get(token, "/sample"), 200)
	asked(0, 0, "before 30 seconds are over")
	f.pass(time.Second + time.Nanosecond)
	want(t, f.get(token, "/sample"), 200)
	asked(1, 1, "after 30 seconds")

	for range 3 {
		want(t, f.get("made-up", "/sample"), 401)
	}
	asked(1, 0, "three requests with a token of no one")
	f.pass(rememberNo + time.Nanosecond)
	want(t, f.get("made-up", "/sample"), 401)
	asked(1, 0, "after 5 seconds")
}

func TestAccess_ARightThatIsGivenOrTakenHoldsSoon(t *testing.T) {
	f := newFixture(t)
	right := rule("manifests/content", "get")
	token := f.account("late")
	want(t, f.get(token, "/sample"), 403)
	f.allow("late", right)
	want(t, f.get(token, "/sample"), 403)
	f.pass(rememberNo + time.Nanosecond)
	want(t, f.get(token, "/sample"), 200)

	if err := f.clients.RbacV1().RoleBindings(f.namespace).Delete(t.Context(), "late", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.settled("late", right, false)
	want(t, f.get(token, "/sample"), 200)
	f.pass(rememberYes + time.Nanosecond)
	want(t, f.get(token, "/sample"), 403)
}

func TestAccess_ATokenOfAnAccountThatIsGoneEnds(t *testing.T) {
	f := newFixture(t)
	token := f.reader()
	want(t, f.get(token, "/sample"), 200)
	if err := f.clients.CoreV1().ServiceAccounts(f.namespace).Delete(t.Context(), "reader", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.eventually("the token is no one's", func() bool {
		f.pass(rememberYes + time.Nanosecond)
		return f.get(token, "/sample").Code == 401
	})
}

func TestFailuresOfOneAddressAreLimited(t *testing.T) {
	f := newFixture(t)
	known := f.reader()
	want(t, f.get(known, "/sample"), 200)
	f.reviews.tokens.Store(0)
	for i := range 3 * maxFailures {
		answer := f.get("wrong-"+strings.Repeat("x", i), "/sample")
		if i < maxFailures {
			want(t, answer, 401)
			continue
		}
		want(t, answer, 429, "address")
		if wait := answer.Header().Get("Retry-After"); wait != "6" {
			t.Errorf("Retry-After is %q, want 6", wait)
		}
	}
	if n := f.reviews.tokens.Load(); n != maxFailures {
		t.Errorf("%d wrong tokens cost %d reviews, want %d", 3*maxFailures, n, maxFailures)
	}
	want(t, f.get(known, "/sample"), 200)
	fresh := f.token("reader")
	want(t, f.get(fresh, "/sample"), 429)
	want(t, f.get(fresh, "/sample", header("X-Forwarded-For", "203.0.113.9")), 429)
	want(t, f.get(fresh, "/sample", func(req *http.Request) { req.RemoteAddr = "203.0.113.9:4711" }), 200)
	f.pass(oneFailure)
	want(t, f.get(f.token("reader"), "/sample"), 200)
	for range 3 * maxFailures {
		want(t, f.get(f.token("reader"), "/sample"), 200)
	}
}

// away is an API server that is unreachable.
type away struct{}

func (away) Create(context.Context, *authenticationv1.TokenReview, metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	return nil, errors.New("connection refused")
}

type awayAccess struct{}

func (awayAccess) Create(context.Context, *authorizationv1.SubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	return nil, errors.New("connection refused")
}

func TestAccess_NobodyIsLetInWhileTheAPIServerIsAway(t *testing.T) {
	for name, change := range map[string]func(*authorizer){
		"no token can be reviewed": func(d *authorizer) { d.tokens = away{} },
		"no right can be reviewed": func(d *authorizer) { d.access = awayAccess{} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			token := f.reader()
			tokens, access := f.door.tokens, f.door.access
			change(f.door)
			answer := f.get(token, "/sample")
			want(t, answer, 503, "cannot be checked")
			if answer.Header().Get("Retry-After") == "" || strings.Contains(answer.Body.String(), "connection refused") {
				t.Errorf("the answer should say when to ask again, and leave the cause to the log: %v %s", answer.Header(), answer.Body)
			}
			if logged := f.logged.all(); !strings.Contains(logged, "connection refused") || strings.Contains(logged, token) {
				t.Errorf("the log should have the cause and not the token: %s", logged)
			}
			f.door.tokens, f.door.access = tokens, access
			want(t, f.get(token, "/sample"), 200)
		})
	}
}
