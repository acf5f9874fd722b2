package integration

import (
	"archive/tar"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// reader makes a ServiceAccount in the hub, which may read content when it is bound, and returns a token of it.
func reader(bound bool) string {
	GinkgoHelper()
	name := testkit.Unique("reader")
	meta := metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}
	env.Hub.Create(&corev1.ServiceAccount{ObjectMeta: meta})
	if bound {
		env.Hub.Apply(env.Hub.Objects("config/components/content/reader.yaml")...)
		env.Hub.Create(&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "klm-content-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: name}},
		})
	}
	config, err := env.Hub.ServiceAccountConfig(ctx(), meta.Namespace, name)
	Expect(err).NotTo(HaveOccurred())
	return config.BearerToken
}

// answer is what the content server says.
type answer struct {
	Code   int
	Header http.Header
	Body   string
}

// fetch asks the content server for what a contentURL names.
func fetch(url, token, known string) answer {
	GinkgoHelper()
	Expect(url).To(HavePrefix(contentURL + "/"))
	request, err := http.NewRequestWithContext(ctx(), http.MethodGet, "https://"+contentServer.String()+strings.TrimPrefix(url, contentURL), nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if known != "" {
		request.Header.Set("If-None-Match", known)
	}
	// No one can verify the certificate that it makes for itself.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	body, err := io.ReadAll(response.Body)
	Expect(errors.Join(err, response.Body.Close())).To(Succeed())
	return answer{response.StatusCode, response.Header, string(body)}
}

func unpacked(archive string) testkit.Files {
	GinkgoHelper()
	files := testkit.Files{}
	for reader := tar.NewReader(bytes.NewBufferString(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		Expect(err).NotTo(HaveOccurred())
		data, err := io.ReadAll(reader)
		Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(data)
	}
}

var _ = Describe("The content server", func() {
	BeforeEach(emptyHub) // a restart reads the components of every Kyma that there is

	It("shows what a Manifest consists of to the one who may see it, also after a restart, and to no one else", func() {
		chart := testkit.Unique("chart")
		files := chartOf(chart, "1.0.0")
		manifest := standAlone(env.PushLayer(files.Gzip(), v1beta2.RefTypeHelmChart), also("more", publish(testkit.RawManifest([]byte(mapNamed(chart, "1.0.0"))))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Resolved", HaveLen(2))))
		live, err := testkit.Live(env.Hub, manifest)()
		Expect(err).NotTo(HaveOccurred())
		url, list := live.Status.Resolved[0].ContentURL, contentURL+"/v1/manifests/kcp-system/"+manifest.Name
		Expect(url).To(Equal(list + "/" + manifest.Name))
		token := reader(true)

		By("the whole, as an archive with its digest")
		Eventually(func() int { return fetch(url, token, "").Code }, "15s", "2s").Should(Equal(http.StatusOK)) // once the binding is known
		whole := fetch(url, token, "")
		Expect(unpacked(whole.Body)).To(Equal(files))
		Expect(whole.Header.Get("Content-Type")).To(Equal("application/x-tar"))
		Expect(whole.Header.Get("ETag")).To(ContainSubstring(live.Status.Resolved[0].Digest))
		Expect(fetch(url, token, whole.Header.Get("ETag"))).To(HaveField("Code", http.StatusNotModified))

		By("one file, and the list")
		Expect(fetch(url+"/"+chart+"/values.yaml", token, "").Body).To(Equal(files[chart+"/values.yaml"]))
		Expect(fetch(url+"/"+chart+"/nothing.yaml", token, "").Code).To(Equal(http.StatusNotFound))
		listed := fetch(list, token, "")
		Expect(listed.Code).To(Equal(http.StatusOK))
		Expect(json.Valid([]byte(listed.Body))).To(BeTrue())
		for _, source := range live.Status.Resolved {
			Expect(listed.Body).To(And(ContainSubstring(source.Name), ContainSubstring(source.Digest)))
		}

		By("no one else")
		Expect(fetch(url, "", "").Code).To(Equal(http.StatusUnauthorized))
		Expect(fetch(url, "made-up", "").Code).To(Equal(http.StatusUnauthorized))
		stranger := fetch(url, reader(false), "")
		Expect(stranger.Code).To(Equal(http.StatusForbidden))
		Expect(stranger.Body).To(ContainSubstring("manifests/content"))
		Expect(fetch(contentURL+"/v1/manifests/kcp-system/not-there", token, "").Code).To(Equal(http.StatusNotFound))

		By("after a restart, from the store")
		asked := env.Registry.Counts()
		whileDown(func() {})
		Eventually(func() int { return fetch(url, token, "").Code }, "15s", "1s").Should(Equal(http.StatusOK))
		Expect(env.Registry.Counts()).To(Equal(asked))
		remove(manifest)
		Eventually(func() int { return fetch(url, token, "").Code }, "15s", "1s").Should(Equal(http.StatusNotFound))
	})
})
