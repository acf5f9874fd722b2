package contentserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
)

const (
	// rememberYes and rememberNo are the times for which an answer of the API server is cached.
	rememberYes = 30 * time.Second
	rememberNo  = 5 * time.Second
	// reviewTimeout bounds both reviews of one request together.
	reviewTimeout = 10 * time.Second
	// maxRemembered bounds each of the two caches; an entry takes less than a kilobyte for most users.
	maxRemembered = 2048
	// maxToken is longer than any token that an API server issues, projected claims included.
	maxToken = 16 << 10

	// The permission that is required.
	rightGroup       = "operator.kyma-project.io"
	rightResource    = "manifests"
	rightSubresource = "content"
	rightVerb        = "get"
)

// TokenReviews creates reviews of tokens; client-go's AuthenticationV1().TokenReviews() implements it.
type TokenReviews interface {
	Create(ctx context.Context, review *authenticationv1.TokenReview, opts metav1.CreateOptions) (*authenticationv1.TokenReview, error)
}

// AccessReviews creates reviews of a user's permissions; client-go's AuthorizationV1().SubjectAccessReviews() implements it.
type AccessReviews interface {
	Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, opts metav1.CreateOptions) (
		*authorizationv1.SubjectAccessReview, error)
}

// authorizer decides which users may read a Manifest's content.
type authorizer struct {
	tokens   TokenReviews
	access   AccessReviews
	now      func() time.Time
	users    *cache.LRUExpireCache // of identity by tokenHash
	rights   *cache.LRUExpireCache // of bool by question
	failures *throttle
}

// tokenHash stands for a token, so that no token is kept in memory.
type tokenHash [sha256.Size]byte

type question struct {
	token           tokenHash
	namespace, name string
}

// identity is the result of a TokenReview; known is false for an invalid token.
type identity struct {
	user  authenticationv1.UserInfo
	known bool
}

func newAuthorizer(tokens TokenReviews, access AccessReviews, now func() time.Time) *authorizer {
	return &authorizer{
		tokens: tokens, access: access, now: now, failures: newThrottle(),
		users: cache.NewLRUExpireCacheWithClock(maxRemembered, clock(now)), rights: cache.NewLRUExpireCacheWithClock(maxRemembered, clock(now)),
	}
}

// clock is the clock of the caches.
type clock func() time.Time

// Now returns the time.
func (c clock) Now() time.Time { return c() }

// knownUser returns the cached review of a token.
func (d *authorizer) knownUser(token tokenHash) (identity, bool) {
	cached, _ := d.users.Get(token)
	who, ok := cached.(identity)
	return who, ok
}

// knownRight returns the cached review of a right.
func (d *authorizer) knownRight(asked question) (allowed, ok bool) {
	cached, _ := d.rights.Get(asked)
	allowed, ok = cached.(bool)
	return allowed, ok
}

// admit returns nil when the request may read the Manifest's content, and otherwise the response:
//  1. Without a token no review is made.
//  2. A cached answer counts.
//  3. An address with too many failures must wait.
//  4. The API server reviews the token and the user's permission; a failure counts against the address.
func (d *authorizer) admit(req *http.Request, namespace, name string) *problem {
	token, p := bearer(req)
	if p != nil {
		return p
	}
	asked := question{token: sha256.Sum256([]byte(token)), namespace: namespace, name: name}
	if who, ok := d.knownUser(asked.token); ok {
		if allowed, ok := d.knownRight(asked); ok && allowed && who.known {
			return nil
		}
	}
	address := addressOf(req.RemoteAddr)
	wait, ok := d.failures.take(address, d.now())
	if !ok {
		return tooManyFailures(wait)
	}
	p = d.ask(req.Context(), token, asked)
	d.settle(p, address)
	return p
}

func (d *authorizer) settle(p *problem, address netip.Prefix) {
	if p == nil {
		d.failures.giveBack(address, d.now())
	}
}

// ask makes the reviews that are not cached.
func (d *authorizer) ask(ctx context.Context, token string, asked question) *problem {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	who, err := d.identify(ctx, token, asked.token)
	if err != nil {
		return cannotReview("token", err)
	}
	if !who.known {
		return unauthenticated("the API server does not accept this token: it may have expired, or be for another audience")
	}
	allowed, err := d.permits(ctx, who, asked)
	if err != nil {
		return cannotReview("access right", err)
	}
	if !allowed {
		return forbidden(who.user.Username, asked.namespace, asked.name)
	}
	return nil
}

func (d *authorizer) identify(ctx context.Context, token string, hash tokenHash) (identity, error) {
	if who, ok := d.knownUser(hash); ok {
		return who, nil
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	review, err := d.tokens.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return identity{}, fmt.Errorf("create a TokenReview: %w", err)
	}
	who := identity{user: review.Status.User, known: review.Status.Authenticated && review.Status.User.Username != ""}
	d.users.Add(hash, who, lifetime(who.known))
	return who, nil
}

func (d *authorizer) permits(ctx context.Context, who identity, asked question) (bool, error) {
	if allowed, ok := d.knownRight(asked); ok {
		return allowed, nil
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(who.user.Extra))
	for key, values := range who.user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review, err := d.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.user.Username, UID: who.user.UID, Groups: who.user.Groups, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: rightVerb, Group: rightGroup, Resource: rightResource, Subresource: rightSubresource,
			Namespace: asked.namespace, Name: asked.name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("create a SubjectAccessReview: %w", err)
	}
	allowed := review.Status.Allowed && !review.Status.Denied
	d.rights.Add(asked, allowed, lifetime(allowed))
	return allowed, nil
}

func lifetime(yes bool) time.Duration {
	if yes {
		return rememberYes
	}
	return rememberNo
}

// bearer returns the token of a request.
func bearer(req *http.Request) (string, *problem) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return "", unauthenticated("a token is missing: send the header \"Authorization: Bearer <token>\", " +
			"for example of kubectl create token <service account>")
	case len(token) > maxToken:
		return "", unauthenticated(fmt.Sprintf("this token is longer than the %d bytes that are accepted", maxToken))
	}
	return token, nil
}
