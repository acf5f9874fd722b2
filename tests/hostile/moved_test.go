package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// twoImages pushes an image under the tags a, b and v1, which is initially a. Both have two ConfigMaps that identify the image.
func twoImages(name string) (digests map[string]string) {
	GinkgoHelper()
	digests = map[string]string{}
	for _, tag := range []string{"b", "a"} {
		files := testkit.Files{}
		for i := range 2 {
			files[fmt.Sprintf("manifests/%d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-%d}\ndata: {of: %s}\n", name, i, tag)
		}
		digests[env.PushImage("private/"+name, tag, files)] = tag
		env.PushImage("private/"+name, "v1", files)
	}
	return digests
}

// tagged answers requests for the tag v1 as if they were for another one.
func tagged(name string, tag func(head bool) string) localcluster.Fault {
	return only("private/"+name, func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if strings.HasSuffix(req.URL.Path, "/manifests/v1") {
			req = req.Clone(req.Context())
			req.URL.Path = strings.TrimSuffix(req.URL.Path, "v1") + tag(req.Method == http.MethodHead)
		}
		next.ServeHTTP(w, req)
	})
}

var _ = Describe("A tag that moves", func() {
	var (
		name    string
		digests map[string]string
	)

	BeforeEach(func() {
		name = testkit.Unique("moving")
		digests = twoImages(name)
		DeferCleanup(env.Registry.Inject, localcluster.Fault(nil))
	})

	// expectWhole checks that the installed content is complete and matches the status.
	expectWhole := func(manifest *v1beta2.Manifest) (tag string) {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		live, err := testkit.Live(env.Hub, manifest)()
		Expect(err).NotTo(HaveOccurred())
		Expect(live.Status.Resolved).To(HaveLen(1))
		tag = digests[live.Status.Resolved[0].Digest]
		Expect(tag).NotTo(BeEmpty(), "a digest that was never under the tag: %+v", live.Status.Resolved)
		for i := range 2 {
			Expect(mapOf(fmt.Sprintf("%s-%d", name, i))()).To(HaveKeyWithValue("of", tag))
		}
		return tag
	}

	It("between the resolution of its digest and the fetch does not change the installed content", func() {
		env.Registry.Inject(tagged(name, func(head bool) string {
			if head {
				return "a"
			}
			return "b"
		}))
		Expect(expectWhole(fromImage(name, nil))).To(Equal("a"))
	})

	It("with every request is installed completely, as one of the two", func() {
		var asked atomic.Int64
		env.Registry.Inject(tagged(name, func(bool) string { return []string{"a", "b"}[asked.Add(1)%2] }))
		expectWhole(fromImage(name, nil))
		Expect(asked.Load()).NotTo(BeZero())
	})

	It("and removes its old content does not cause its new content to be installed", func() {
		var refused atomic.Int64
		env.Registry.Inject(only("private/"+name, func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			switch {
			case req.Method == http.MethodHead && strings.HasSuffix(req.URL.Path, "/manifests/v1"):
				next.ServeHTTP(w, req)
			case strings.HasSuffix(req.URL.Path, "/manifests/v1"):
				tagged(name, func(bool) string { return "b" })(w, req, next)
			default: // nothing exists by its digest any more
				refused.Add(1)
				answerJSON(w, http.StatusNotFound, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`)
			}
		}))
		manifest := fromImage(name, nil)
		Eventually(statusOf).WithArguments(manifest).Should(ContainSubstring(v1beta2.ReasonContentNotFound))
		Expect(refused.Load()).NotTo(BeZero())
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateError))
		for i := range 2 {
			Expect(mapOf(fmt.Sprintf("%s-%d", name, i))()).To(BeEmpty())
		}
	})

	It("and serves the other bytes under the old digest is detected", func() {
		var a, b string
		for digest, tag := range digests {
			if tag == "a" {
				a = digest
			} else {
				b = digest
			}
		}
		env.Registry.Inject(only("private/"+name, func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			req = req.Clone(req.Context())
			if req.Method == http.MethodGet {
				req.URL.Path = strings.Replace(req.URL.Path, a, b, 1)
			}
			next.ServeHTTP(w, req)
		}))
		manifest := fromImage(name, nil)
		Eventually(statusOf).WithArguments(manifest).Should(ContainSubstring(v1beta2.ReasonDigestMismatch))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateError))
		for i := range 2 {
			Expect(mapOf(fmt.Sprintf("%s-%d", name, i))()).To(BeEmpty())
		}
	})
})
