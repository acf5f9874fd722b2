package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr/funcr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// site is a running dashboard, and a browser in front of it.
type site struct {
	*testing.T
	server *Server
	base   string
	http   *http.Client
	admin  client.WithWatch
	logs   *lines
}

// lines holds the log of a site.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) add(prefix, args string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	fmt.Fprintln(&l.text, prefix, args)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

var frontEnd = fstest.MapFS{
	"index.html":           {Data: []byte(`<meta name="csp-nonce" content="__NONCE__"><script src="/assets/app-1.js"></script>`)},
	"assets/app-1.js":      {Data: []byte(strings.Repeat("console.log('hello');", 200))},
	"assets/app-1.css":     {Data: []byte("a{}")},
	"favicon.svg":          {Data: []byte("<svg/>")},
	"assets/font-1.woff2":  {Data: []byte{0, 1, 2}},
	"assets/picture-1.bin": {Data: []byte{3}},
}

// open starts a dashboard; change may adapt its options.
func open(t *testing.T, mode Mode, change ...func(*Options)) *site {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, admin: apiserver.Client(t), logs: &lines{}}
	options := Options{
		Mode: mode, Config: config, Cluster: "test", Version: "1.2.3", PlainHTTP: true, Assets: frontEnd,
		Log: funcr.New(s.logs.add, funcr.Options{Verbosity: 9}),
	}
	for _, f := range change {
		f(&options)
	}
	if s.server, err = New(options); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.base = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.server.Run(ctx, listener) }()
	t.Cleanup(func() {
		s.http.CloseIdleConnections()
		stop()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the server does not end")
		}
	})
	s.browser()
	return s
}

// browser replaces the browser by one without cookies.
func (s *site) browser() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	s.http = &http.Client{Jar: jar, Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) problem(t *testing.T) Problem {
	t.Helper()
	var body struct {
		Error Problem `json:"error"`
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatalf("status %d: %q is no error: %v", r.status, r.body, err)
	}
	return body.Error
}

func (s *site) do(method, path, body string, change ...func(*http.Request)) reply {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(request)
	}
	response, err := s.http.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, text}
}

// get reads a response of status 200.
func get[T any](s *site, path string) T {
	s.Helper()
	var into T
	r := s.do(http.MethodGet, path, "")
	if r.status != http.StatusOK {
		s.Fatalf("GET %s: status %d: %s", path, r.status, r.body)
	}
	if err := json.Unmarshal(r.body, &into); err != nil {
		s.Fatalf("GET %s: %v in %s", path, err, r.body)
	}
	return into
}

// enter logs in locally.
func (s *site) enter() {
	s.Helper()
	if r := s.do(http.MethodPost, "/api/v1/session", `{"code":"`+s.server.Code()+`"}`); r.status != http.StatusOK {
		s.Fatalf("log in: %d %s", r.status, r.body)
	}
}

// enterAs logs in with a token.
func (s *site) enterAs(token string) {
	s.Helper()
	if r := s.do(http.MethodPost, "/api/v1/session", `{"token":"`+token+`"}`); r.status != http.StatusOK {
		s.Fatalf("log in: %d %s", r.status, r.body)
	}
}

// make creates objects.
func (s *site) make(objects ...client.Object) {
	s.Helper()
	for _, o := range objects {
		if err := s.admin.Create(s.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
			s.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
	}
}

// token creates a ServiceAccount and a token for it. With a namespace it may read there, with "*" everywhere, with "" nowhere.
func (s *site) token(name, where string) string {
	s.Helper()
	account := account(name)
	s.make(account, reader())
	subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "dashboard-reader"}
	switch where {
	case "":
	case "*":
		s.make(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subject, RoleRef: role})
	default:
		s.make(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: name}, Subjects: subject, RoleRef: role})
	}
	if where != "" {
		apiserver.Allowed(s, s.admin, "system:serviceaccount:default:"+name, strings.TrimPrefix(where, "*"), reader().Rules[0])
	}
	request := &authenticationv1.TokenRequest{}
	if err := s.admin.SubResource("token").Create(s.Context(), account, request); err != nil {
		s.Fatal(err)
	}
	return request.Status.Token
}

func account(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// reader returns a role that may read Kymas and modules.
func reader() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "dashboard-reader"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{ownGroup}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"list"}},
	}}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// kyma creates a Kyma with modules, and sets its status.
func (s *site) kyma(namespace, name string, state v1beta2.State, modules ...string) *v1beta2.Kyma {
	s.Helper()
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta2.KymaSpec{Channel: "regular"}}
	for _, module := range modules {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: module})
	}
	s.make(kyma)
	kyma.Status.State, kyma.Status.ObservedGeneration = state, kyma.Generation
	kyma.Status.LastOperation = v1beta2.LastOperation{Operation: "made by a test", LastUpdateTime: metav1.Now()}
	for _, module := range modules {
		kyma.Status.Modules = append(kyma.Status.Modules, v1beta2.ModuleStatus{
			Name: module, Channel: "regular", Version: "1.0.0", State: state, Message: "as the test says",
			Template: &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Namespace: namespace, Name: module + "-1.0.0"}},
		})
	}
	if err := s.admin.Status().Update(s.Context(), kyma); err != nil {
		s.Fatal(err)
	}
	return kyma
}

// eventually waits until a condition holds.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for end := time.After(within); ; {
		if holds() {
			return
		}
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("after %s still not: %s", within, what)
		}
	}
}

func escaped(text string) string { return url.QueryEscape(text) }

// definitionOf returns the definition of a kind.
func definitionOf(plural, kind string) client.Object {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	return o
}

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }
