package hostile

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// expectHiddenContent requests a Manifest from the content server as all kinds of unauthorised users, and as an authorised one.
func expectHiddenContent(manifest string) {
	GinkgoHelper()
	at := "/v1/manifests/" + v1beta2.DefaultNamespace + "/" + manifest
	for _, path := range []string{at, at + "/" + manifest, at + "/" + manifest + "/" + manifest + "/templates/content.yaml", at + "?token=" + visitorToken.secret} {
		for who, token := range map[string]string{"nobody": "", "a user unknown": visitorToken.secret, "a user without rights": account(false)} {
			code, answer := visit(path, token)
			Expect(code).To(BeElementOf(http.StatusUnauthorized, http.StatusForbidden), "%s asks for %s: %s", who, path, answer)
			Expect(canaryIn(answer)).To(BeEmpty(), "secrets that %s was told at %s", who, path)
			visitorToken.seen(token)
		}
	}
	reader := account(true)
	Eventually(func() int { code, _ := visit(at, reader); return code }).Should(Equal(http.StatusOK)) // once the binding takes effect
	code, archive := visit(at+"/"+manifest, reader)
	Expect(code).To(Equal(http.StatusOK))
	Expect(canaryIn(archive)).To(Equal(contentSecret.what), "what stands in the source, and not what it was rendered with")
}

// account creates a ServiceAccount in the hub, which may read content when it is bound, and returns a token for it.
func account(bound bool) string {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: testkit.Unique("visitor")}
	env.Hub.Create(&corev1.ServiceAccount{ObjectMeta: meta})
	if bound {
		env.Hub.Apply(env.Hub.Objects("config/components/content/reader.yaml")...)
		env.Hub.Create(&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "klm-content-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: meta.Name}},
		})
	}
	config, err := env.Hub.ServiceAccountConfig(context.Background(), meta.Namespace, meta.Name)
	Expect(err).NotTo(HaveOccurred())
	return config.BearerToken
}

// visit sends a request to the content server.
func visit(path, token string) (code int, answer string) {
	GinkgoHelper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+contentServer.String()+path, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// The content server's self-signed certificate cannot be verified.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	Expect(err).NotTo(HaveOccurred())
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	Expect(errors.Join(err, resp.Body.Close())).To(Succeed())
	return resp.StatusCode, string(body)
}
