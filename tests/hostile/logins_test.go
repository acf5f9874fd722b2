package hostile

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// pair is a client certificate and its key, in PEM.
type pair struct{ cert, key, der []byte }

// minted is the pair of this run, and clientKey the canary for its key.
var minted, clientKey = mint()

func mint() (pair, *canary) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lifecycle-manager"}, NotAfter: time.Now().Add(time.Hour)}
	var p pair
	var packed []byte
	if err == nil {
		p.der, err = x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	}
	if err == nil {
		packed, err = x509.MarshalPKCS8PrivateKey(key)
	}
	if err != nil {
		panic(fmt.Sprintf("no client certificate can be made: %v", err))
	}
	p.cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.der})
	p.key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: packed})
	lines := strings.Split(string(p.key), "\n")
	return p, hatch("the key of a client certificate", lines[2][:32]) // every such key has the same first line
}

// byCertificate gives the manager a client certificate for the runtime, byPassword a password.
func byCertificate(t *trap) {
	t.user = fmt.Sprintf("client-certificate-data: %s, client-key-data: %s",
		base64.StdEncoding.EncodeToString(minted.cert), base64.StdEncoding.EncodeToString(minted.key))
	t.known = func(req *http.Request) bool {
		shown := len(req.TLS.PeerCertificates) == 1 && bytes.Equal(req.TLS.PeerCertificates[0].Raw, minted.der)
		if shown {
			clientKey.planted.Store(true) // only a client with the key can use the certificate
		}
		return shown && req.Header.Get("Authorization") == ""
	}
}

// passwordUser is the user in the kubeconfig of byPassword.
const passwordUser = "reader"

func byPassword(t *trap) {
	t.user = fmt.Sprintf("username: %s, password: %q", passwordUser, password.secret)
	t.known = func(req *http.Request) bool {
		user, got, _ := req.BasicAuth()
		password.seen(got)
		return user == passwordUser && got == password.secret
	}
}

// asking sets a trap for another type of user. Its handshake requests a certificate, which is not verified.
func asking(user func(*trap), answer bait) func(target) *trap {
	return func(target) *trap {
		t := setTrap(answer, func(s *httptest.Server) { s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert} })
		user(t)
		return t
	}
}

// heard lets everything pass, with a warning.
func heard(t *trap, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		t.met.Add(1)
		w.Header().Add("Warning", `299 - "you sent `+req.Header.Get("Authorization")+`"`)
		next.ServeHTTP(w, req)
	})
}

var _ = DescribeTable("A runtime that is spoken to by", strike,
	Entry("a certificate, and takes it", attack{set: asking(byCertificate, heard), harmless: true}),
	Entry("a certificate, and says that it is no one's", attack{
		set: asking(byCertificate, on(always, failing(401, "Unauthorized", "unknown certificate"))), atMost: 100,
	}),
	Entry("a password, and repeats it in warnings", attack{set: asking(byPassword, heard), harmless: true}),
	Entry("a password, and repeats it", attack{set: asking(byPassword, on(always, echo(403)))}),
	Entry("a token, and repeats it in warnings", attack{set: setting(heard), harmless: true}),
)

// broken are kubeconfigs that are refused, each with a secret in the invalid part.
var broken = map[string]string{
	"not YAML":             "apiVersion: v1\nkind: Config\nusers: [{name: x, user: {token: SECRET\n",
	"a wrong type":         "apiVersion: v1\nkind: Config\nusers: [{name: x, user: {token: [SECRET]}}]\n",
	"a token of two lines": "USERS{token: \"SECRET\\nSECRET\"}}]",
	"a key that is none":   "USERS{client-certificate-data: U0VDUkVU, client-key-data: BASE64}}]",
	"a program":            "USERS{exec: {command: SECRET, apiVersion: client.authentication.k8s.io/v1, args: [SECRET], env: [{name: a, value: SECRET}]}}}]",
	"a password in the address": "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n" +
		"clusters: [{name: x, cluster: {server: \"https://me:SECRET@127.0.0.1:1\"}}]\nusers: [{name: x, user: {token: SECRET}}]\n",
	"a proxy with a password": "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n" +
		"clusters: [{name: x, cluster: {server: \"https://127.0.0.1:1\", proxy-url: \"http://me:SECRET@127.0.0.1:1\"}}]\nusers: [{name: x, user: {token: SECRET}}]\n",
	"a token and a password": "USERS{token: SECRET, username: me, password: SECRET}}]",
	"an invalid address": "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n" +
		"clusters: [{name: x, cluster: {server: \"https://127.0.0.1:SECRET\"}}]\nusers: [{name: x, user: {token: SECRET}}]\n",
}

const someUsers = "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n" +
	"clusters: [{name: x, cluster: {server: \"https://127.0.0.1:1\"}}]\nusers: [{name: x, user: "

var _ = Describe("Kubeconfigs that are refused", func() {
	It("do not leak their secrets", func() {
		module := offer(nil)
		var kymas []*v1beta2.Kyma
		for _, text := range broken {
			kubeconfig := strings.NewReplacer("USERS", someUsers, "SECRET", brokenToken.secret,
				"BASE64", base64.StdEncoding.EncodeToString([]byte(brokenToken.secret))).Replace(text)
			brokenToken.seen(kubeconfig)
			kyma := testkit.Kyma(testkit.Unique("broken"), testkit.WithModule(module))
			env.Hub.Create(testkit.NewAccessSecret(kyma.Name, []byte(kubeconfig)), kyma)
			DeferCleanup(deleteKyma, kyma)
			kymas = append(kymas, kyma)
		}
		for _, kyma := range kymas {
			Eventually(func() (string, error) { return said(kyma.Name, module) }).Should(Or(
				ContainSubstring(v1beta2.ReasonKubeconfigRefused), ContainSubstring(v1beta2.ReasonKubeconfigInvalid)))
		}
		expectNoLeaks()
	})
})

// private returns the fields of a source with a selector for its login.
func private(name string) map[string]any {
	return map[string]any{"credSecretSelector": map[string]any{"matchLabels": map[string]any{"registry-of": name}}}
}

// parrot makes a registry repeat the password that it received.
func parrot(answer func(w http.ResponseWriter, password string)) localcluster.Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		_, password, told := req.BasicAuth()
		if !told {
			localcluster.Deny()(w, req, next)
			return
		}
		sourceLogin.seen(password)
		answer(w, password)
	}
}

var _ = DescribeTable("The login of a source is sent to its registry only", func(fault localcluster.Fault, state v1beta2.State) {
	name := testkit.Unique("private")
	env.PushImage("private/"+name, "v1", testkit.Files{"manifests/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"})
	env.Hub.Create(sourceSecret(name))
	DeferCleanup(env.Registry.Inject, localcluster.Fault(nil))
	env.Registry.Inject(only("private/"+name, fault))
	manifest := fromImage(name, private(name))
	Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(state))
	expectNoLeaks()
},
	Entry("which takes it", localcluster.RequireLogin("reader", sourceLogin.secret), v1beta2.StateReady),
	Entry("which repeats it in an error of its own", parrot(func(w http.ResponseWriter, password string) {
		answerJSON(w, http.StatusForbidden, `{"errors":[{"code":"DENIED","message":"`+password+` may not","detail":"`+password+`"}]}`)
	}), v1beta2.StateError),
	Entry("which repeats it in plain text", parrot(func(w http.ResponseWriter, password string) {
		http.Error(w, password, http.StatusInternalServerError)
	}), v1beta2.StateError),
	Entry("which repeats it in a realm", parrot(func(w http.ResponseWriter, password string) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://127.0.0.1:1/`+password+`",service="`+password+`",scope="`+password+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	}), v1beta2.StateError),
	Entry("which repeats it in a 404", parrot(func(w http.ResponseWriter, password string) {
		answerJSON(w, http.StatusNotFound, `{"errors":[{"code":"NAME_UNKNOWN","message":"`+password+`"}]}`)
	}), v1beta2.StateError),
	Entry("which repeats it in a redirect", parrot(func(w http.ResponseWriter, password string) {
		w.Header().Set("Location", "http://me:"+password+"@127.0.0.1:1/?"+password)
		w.WriteHeader(http.StatusFound)
	}), v1beta2.StateError),
	Entry("which repeats it in headers of its content", parrot(func(w http.ResponseWriter, password string) {
		w.Header().Set("Docker-Content-Digest", password)
		w.Header().Set("Content-Type", password)
		_, _ = io.WriteString(w, `{"`+password+`":1}`)
	}), v1beta2.StateError),
)

// only applies a fault to one repository.
func only(repository string, fault localcluster.Fault) localcluster.Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if !strings.Contains(req.URL.Path, repository) {
			next.ServeHTTP(w, req)
			return
		}
		fault(w, req, next)
	}
}

// sourceSecret is found by credSecretSelector.
func sourceSecret(name string) *corev1.Secret {
	config := `{"auths":{"` + env.Registry.Host + `":{"username":"reader","password":"` + sourceLogin.secret + `"}}}`
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name, Labels: map[string]string{"registry-of": name}},
		Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)},
	}
}

// fromImage creates a Manifest of an image in a private repository, for the healthy runtime.
func fromImage(name string, more map[string]any) *v1beta2.Manifest {
	GinkgoHelper()
	source := map[string]any{"type": "bundle", "image": env.Registry.Host + "/private/" + name + ":v1"}
	maps.Copy(source, more)
	manifest := testkit.Manifest(testkit.Unique("private"), v1beta2.ImageSpec{}, func(m *v1beta2.Manifest) {
		testkit.Remote(m.Name)(m)
		m.Spec.Install.Source = testkit.Raw(source)
	})
	env.AccessSecret(manifest.Name, env.Runtimes[0])
	env.Hub.Create(manifest)
	DeferCleanup(letGoOf, manifest)
	return manifest
}

// mapOf returns the data of a ConfigMap in the healthy runtime; nil when it does not exist.
func mapOf(name string) func() (map[string]string, error) {
	return func() (map[string]string, error) {
		found := &corev1.ConfigMap{}
		err := env.Runtimes[0].Client.Get(context.Background(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, found)
		return found.Data, client.IgnoreNotFound(err)
	}
}
