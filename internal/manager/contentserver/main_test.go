package contentserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// apiServer returns the API server that all tests of this package share; the first test that needs it starts it.
var apiServer = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m) }

// fixture is a content server's handler with a real API server, a namespace of its own and a clock that the test sets.
type fixture struct {
	*testing.T
	*handler
	clients   kubernetes.Interface
	namespace string
	reviews   struct{ tokens, access atomic.Int32 }
	logged    lines
	routes    http.Handler

	mu       sync.Mutex
	clock    time.Time
	contents Contents
}

type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) add(_, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, args)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.text, "\n")
}

// countedTokens and countedAccess count the reviews by the API server.
type countedTokens struct {
	TokenReviews
	made *atomic.Int32
}

func (c countedTokens) Create(ctx context.Context, r *authenticationv1.TokenReview, o metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	c.made.Add(1)
	return c.TokenReviews.Create(ctx, r, o)
}

type countedAccess struct {
	AccessReviews
	made *atomic.Int32
}

func (c countedAccess) Create(ctx context.Context, r *authorizationv1.SubjectAccessReview, o metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	c.made.Add(1)
	return c.AccessReviews.Create(ctx, r, o)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the content server may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	config, err := apiServer()
	if err != nil {
		t.Fatalf("start an API server: %v", err)
	}
	f := &fixture{T: t, clients: kubernetes.NewForConfigOrDie(config), clock: time.Now()}
	made, err := f.clients.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "content-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.namespace = made.Name
	f.contents = func(context.Context, string, string) ([]Item, error) { return bundle(), nil }
	f.handler = newHandler(&Server{
		Tokens: countedTokens{f.clients.AuthenticationV1().TokenReviews(), &f.reviews.tokens},
		Access: countedAccess{f.clients.AuthorizationV1().SubjectAccessReviews(), &f.reviews.access},
		Contents: func(ctx context.Context, namespace, name string) ([]Item, error) {
			return f.contents(ctx, namespace, name)
		},
		Log: funcr.New(f.logged.add, funcr.Options{}),
	}, f.now)
	f.routes = f.handler.routes()
	return f
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

// account creates a ServiceAccount with the given rules in its namespace, and returns a token of it.
func (f *fixture) account(name string, rules ...rbacv1.PolicyRule) string {
	f.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := f.clients.CoreV1().ServiceAccounts(f.namespace).Create(f.Context(), account, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	if len(rules) > 0 {
		f.allow(name, rules...)
	}
	return f.token(name)
}

func (f *fixture) allow(name string, rules ...rbacv1.PolicyRule) {
	f.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: f.namespace, Name: name}},
	}
	if _, err := f.clients.RbacV1().Roles(f.namespace).Create(f.Context(), role, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	if _, err := f.clients.RbacV1().RoleBindings(f.namespace).Create(f.Context(), binding, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	// The API server's authorizer follows its own watch: wait until it has the new rules.
	f.settled(name, rules[0], true)
}

// settled waits until the API server's own answer for the rule is the wanted one.
func (f *fixture) settled(account string, rule rbacv1.PolicyRule, want bool) {
	f.Helper()
	resource, sub, _ := strings.Cut(rule.Resources[0], "/")
	name := ""
	if len(rule.ResourceNames) > 0 {
		name = rule.ResourceNames[0]
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: fmt.Sprintf("system:serviceaccount:%s:%s", f.namespace, account),
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: f.namespace, Name: name, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: sub,
		},
	}}
	f.eventually("the API server's rules hold", func() bool {
		answer, err := f.clients.AuthorizationV1().SubjectAccessReviews().Create(f.Context(), review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed == want
	})
}

func (f *fixture) eventually(what string, done func() bool) { eventually(f.T, what, done) }

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// token returns a new token of a ServiceAccount.
func (f *fixture) token(account string, audiences ...string) string {
	f.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	made, err := f.clients.CoreV1().ServiceAccounts(f.namespace).CreateToken(f.Context(), account, request, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return made.Status.Token
}

func rule(resource, verb string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{rightGroup}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
}

// reader returns a token of an account that may read the content of every Manifest of its namespace.
func (f *fixture) reader() string { return f.account("reader", rule("manifests/content", "get")) }

// get requests a path below the namespace's Manifests.
func (f *fixture) get(token, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	f.Helper()
	req := httptest.NewRequestWithContext(f.Context(), http.MethodGet, root+f.namespace+path, nil)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, c := range change {
		c(req)
	}
	answer := httptest.NewRecorder()
	f.routes.ServeHTTP(answer, req)
	return answer
}

// want checks the code of a response, and the message of an error.
func want(t *testing.T, answer *httptest.ResponseRecorder, code int, parts ...string) {
	t.Helper()
	if answer.Code != code {
		t.Fatalf("the answer is %d %s, want %d", answer.Code, answer.Body, code)
	}
	if code < 400 {
		return
	}
	var status metav1.Status
	if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || status.Kind != "Status" || status.Code != int32(code) || status.Message == "" {
		t.Fatalf("the answer is no Status: %v\n%s", err, answer.Body)
	}
	for _, part := range parts {
		if !strings.Contains(status.Message, part) {
			t.Errorf("the message does not say %q: %s", part, status.Message)
		}
	}
}

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// bundle returns the items of a Manifest with three installs, one of which is still being fetched.
func bundle() []Item {
	return []Item{
		{
			Install: "bundle", Reference: "registry.example.com/bundle:1.0", Digest: someDigest, MediaType: "application/vnd.oci.image.manifest.v1+json",
			Tree: &content.Tree{Files: []content.File{
				{Path: "manifests/b.yaml", Data: []byte("kind: B\n")},
				{Path: "manifests/a file.yaml", Data: []byte("kind: A\n")},
				{Path: "page.html", Data: []byte("<script>alert(1)</script>")},
				{Path: "logo.bin", Data: []byte{0, 1, 2, 0xff}},
			}},
		},
		{
			Install: "raw", Reference: "registry.example.com/raw@" + someDigest, Digest: someDigest,
			Tree: &content.Tree{Files: []content.File{{Data: []byte("kind: Raw\n")}}},
		},
		{Install: "late", Reference: "https://example.com/late.git", Digest: someDigest},
	}
}
