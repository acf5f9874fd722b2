package runtimeaccess_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// bench is a namespace with a remote Kyma.
type bench struct {
	*testing.T
	client.Client
	config *rest.Config
	kyma   *v1beta2.Kyma
}

func newBench(t *testing.T) *bench {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Client: apiserver.Client(t), config: config}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "reach-"}}
	b.create(namespace)
	b.kyma = &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "demo"}}
	return b
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

// secret creates an access Secret for the runtime; with different names there can be several.
func (b *bench) secret(name string, data []byte) {
	b.Helper()
	b.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.kyma.Namespace, Name: name, Labels: map[string]string{v1beta2.LabelKymaName: b.kyma.Name}},
		Data:       map[string][]byte{v1beta2.AccessSecretKey: data},
	})
}

func (b *bench) kubeconfig() []byte {
	b.Helper()
	data, err := localcluster.KubeconfigOf("runtime", b.config)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func (b *bench) fails(reason string, words ...string) {
	b.Helper()
	config, err := runtimeaccess.Cluster(b.Context(), b.Client, b.config, b.kyma)
	if runtimeaccess.ReasonOf(err) != reason {
		b.Fatalf("got %v %v, want %s", config, err, reason)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			b.Errorf("the message does not say %q: %v", word, err)
		}
	}
}

func TestReach_ALocalKymaIsHere(t *testing.T) {
	b := newBench(t)
	local := false
	b.kyma.Spec.Remote = &local
	config, err := runtimeaccess.Cluster(t.Context(), b.Client, b.config, b.kyma)
	if err != nil || config == b.config || config.Host != b.config.Host {
		t.Errorf("%v %v", config, err)
	}
}

func TestReach_TheWayIntoARuntime(t *testing.T) {
	b := newBench(t)
	b.fails(v1beta2.ReasonAccessSecretNotFound, b.kyma.Namespace+"/demo")
	b.secret("one", b.kubeconfig())
	config, err := runtimeaccess.Cluster(t.Context(), b.Client, b.config, b.kyma)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	home := &corev1.Namespace{}
	if err := runtime.Get(t.Context(), client.ObjectKey{Name: "kube-system"}, home); err != nil {
		t.Fatal(err)
	}
	b.kyma.Status.RuntimeID = string(home.UID)
	if _, err := runtimeaccess.Cluster(t.Context(), b.Client, b.config, b.kyma); err != nil {
		t.Errorf("the cluster that it was: %v", err)
	}
	b.kyma.Status.RuntimeID = "another"
	b.fails(v1beta2.ReasonRuntimeReplaced, "another cluster")
	b.secret("two", nil)
	b.fails(v1beta2.ReasonAccessSecretAmbiguous, "one, two")
}

func TestReach_TheSecretIsReadAsThePerson(t *testing.T) {
	b := newBench(t)
	b.secret("one", b.kubeconfig())
	config := rest.CopyConfig(b.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "stranger", Groups: []string{"system:authenticated"}}
	stranger, err := client.New(config, client.Options{Scheme: b.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = runtimeaccess.Cluster(t.Context(), stranger, config, b.kyma)
	if !runtimeaccess.IsForbidden(err) || !strings.Contains(err.Error(), "may not read the access Secret") {
		t.Errorf("got %v", err)
	}
}

func TestReach_WhatASecretMayNotHold(t *testing.T) {
	for name, c := range map[string]struct{ from, to, reason string }{
		"a program":          {"client-certificate-data", "exec: {command: sh, apiVersion: client.authentication.k8s.io/v1}\n    client-certificate-data", v1beta2.ReasonKubeconfigRefused},
		"no current context": {"current-context: runtime", "current-context: \"\"", v1beta2.ReasonKubeconfigInvalid},
		"nonsense":           {"apiVersion", "\x00", v1beta2.ReasonKubeconfigInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.secret("one", []byte(strings.Replace(string(b.kubeconfig()), c.from, c.to, 1)))
			b.fails(c.reason, "Secret "+b.kyma.Namespace+"/one")
		})
	}
}

// TestRefusedCredentialsAreNotThePersons: invalid credentials of a Secret end no user's session, and redirects are not followed.
func TestRefusedCredentialsAreNotThePersons(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		reason string
	}{
		"unauthorized": {http.StatusUnauthorized, v1beta2.ReasonRuntimeUnauthorized},
		"a redirect":   {http.StatusTemporaryRedirect, v1beta2.ReasonRuntimeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma.Status.RuntimeID = "known"
			asked := 0
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				w.Header().Set("Location", "https://"+r.Host+"/elsewhere")
				w.WriteHeader(c.status)
			}))
			defer server.Close()
			b.secret("one", []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "x",
				"contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
				"clusters": [{"name": "x", "cluster": {"server": "`+server.URL+`", "insecure-skip-tls-verify": true}}],
				"users": [{"name": "x", "user": {"token": "s3cret"}}]}`))
			_, err := runtimeaccess.Cluster(t.Context(), b.Client, b.config, b.kyma)
			var status apierrors.APIStatus
			if runtimeaccess.ReasonOf(err) != c.reason || errors.As(err, &status) || asked != 1 || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v after %d requests", err, asked)
			}
		})
	}
}
