package integration

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// collector takes traces as a collector of OpenTelemetry does, and keeps them.
type collector struct {
	*httptest.Server

	mu    sync.Mutex
	bytes []byte
	spans []span
}

// span is one that the collector was sent, with its attributes as text.
type span struct {
	Name, Trace, ID, Parent string
	Attributes              map[string]string
}

func spanOf(sent *tracepb.Span) span {
	s := span{
		Name: sent.GetName(), Trace: hex.EncodeToString(sent.GetTraceId()), ID: hex.EncodeToString(sent.GetSpanId()),
		Parent: hex.EncodeToString(sent.GetParentSpanId()), Attributes: map[string]string{},
	}
	for _, attribute := range sent.GetAttributes() {
		s.Attributes[attribute.GetKey()] = attribute.GetValue().GetStringValue()
		if number, is := attribute.GetValue().GetValue().(*commonpb.AnyValue_IntValue); is {
			s.Attributes[attribute.GetKey()] = strconv.FormatInt(number.IntValue, 10)
		}
	}
	return s
}

// GomegaString implements format.GomegaStringer.
func (s span) GomegaString() string {
	return fmt.Sprint(s.Name, " ", s.ID, " below ", s.Parent, " ", s.Attributes["lifecycle_mgr.state"])
}

func startCollector() *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	DeferCleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	request := &collectortrace.ExportTraceServiceRequest{}
	if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(body, request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = append(c.bytes, body...)
	for _, described := range request.GetResourceSpans() {
		for _, scoped := range described.GetScopeSpans() {
			for _, sent := range scoped.GetSpans() {
				c.spans = append(c.spans, spanOf(sent))
			}
		}
	}
}

// traceOf is for Eventually: the spans of the trace that the first pass over a generation of a Kyma began.
func (c *collector) traceOf(kyma, generation string) func() []span {
	root := map[string]string{"lifecycle_mgr.kyma.name": kyma, "lifecycle_mgr.generation": generation}
	return func() []span {
		c.mu.Lock()
		defer c.mu.Unlock()
		first := slices.IndexFunc(c.spans, func(s span) bool {
			return s.Name == "Kyma reconcile" && s.Parent == "" && includes(s.Attributes, root)
		})
		var found []span
		for _, s := range c.spans {
			if first >= 0 && s.Trace == c.spans[first].Trace {
				found = append(found, s)
			}
		}
		return found
	}
}

// spansOf returns all spans of the passes of a Kyma and its Manifests.
func (c *collector) spansOf(kyma string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := 0
	for _, s := range c.spans {
		if s.Attributes["lifecycle_mgr.kyma.name"] == kyma {
			count++
		}
	}
	return count
}

// sent returns all that the collector was sent.
func (c *collector) sent() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.bytes)
}

// hasSpan says that a trace has a span with a name and attributes.
func hasSpan(name string, attributes map[string]string) types.GomegaMatcher {
	return ContainElement(Satisfy(func(s span) bool { return s.Name == name && includes(s.Attributes, attributes) }))
}

// connected says that every span but the first one has its parent in the trace.
func connected(trace []span) bool {
	known, roots := map[string]bool{}, 0
	for _, s := range trace {
		known[s.ID] = true
	}
	for _, s := range trace {
		switch {
		case s.Parent == "":
			roots++
		case !known[s.Parent]:
			return false
		}
	}
	return roots == 1
}

// secretsOf returns what must not be in a trace of an access kubeconfig and a password, as it is and in base64.
func secretsOf(kubeconfig []byte, password string) [][]byte {
	GinkgoHelper()
	config, err := clientcmd.Load(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	secrets := [][]byte{[]byte(password)}
	for _, user := range config.AuthInfos {
		for _, secret := range [][]byte{user.ClientKeyData, user.ClientCertificateData, []byte(user.Token)} {
			if len(secret) > 0 {
				secrets = append(secrets, secret[:len(secret)/2])
			}
		}
	}
	Expect(len(secrets)).To(BeNumerically(">", 2), "the access kubeconfig holds credentials")
	for _, secret := range secrets {
		encoded := base64.StdEncoding.EncodeToString(secret)
		secrets = append(secrets, []byte(encoded[:len(encoded)-4]))
	}
	return secrets
}

func withCollector(endpoint string, changes ...func(*setup.Config)) {
	GinkgoHelper()
	GinkgoT().Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	withFlags(append(changes, func(c *setup.Config) { c.OTLPEndpoint = endpoint })...)
}

var _ = Describe("Traces", Ordered, func() {
	BeforeAll(emptyHub)

	It("show a change from the Kyma to its runtime in one piece, hold no secret, and are silent at rest", func() {
		const password, value = "pass-w0rd-of-the-registry", "value-of-a-secret-of-the-content"
		trusted := []any{map[string]any{"host": env.Registry.Host, "plainHTTP": true}}
		file, err := json.Marshal(map[string]any{"registries": trusted})
		Expect(err).NotTo(HaveOccurred())
		module := testkit.Unique("maps")
		content := testkit.ConfigMaps(module, "1.0.0", 2)
		content.Objects = append(content.Objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": module, "namespace": metav1.NamespaceDefault},
			"stringData": map[string]any{"key": value},
		}})
		env.Offer(module, "1.0.0", content, "regular")
		login := dockerSecret(testkit.Unique("login"), env.Registry.Host, password)
		env.Hub.Create(login)
		writeRegistries(file)
		DeferCleanup(func() { writeRegistries(trust(web)) })
		inject(localcluster.RequireLogin("robot", password))
		c := startCollector()
		withCollector(c.URL, func(c *setup.Config) { c.RegistryHost, c.RegistrySecret = "", login.Name })
		env.FaultFree()

		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		inRuntime := map[string]string{
			"lifecycle_mgr.cluster": "runtime", "lifecycle_mgr.request.verb": "create", "http.response.status_code": "201",
		}
		inHub := map[string]string{"lifecycle_mgr.cluster": "hub"}
		ofModule := map[string]string{"lifecycle_mgr.module.name": module}
		moduleReady := map[string]string{"lifecycle_mgr.module.name": module, "lifecycle_mgr.state": "Ready"}
		ready := map[string]string{"lifecycle_mgr.state": "Ready"}
		Eventually(c.traceOf(kyma.Name, "1")).Should(And(
			hasSpan("PATCH manifests.operator.kyma-project.io", inHub),
			hasSpan("phase queue", ofModule), hasSpan("phase fetch", ofModule), hasSpan("phase verify", ofModule),
			hasSpan("phase apply", ofModule), hasSpan("phase ready", ofModule),
			hasSpan("Manifest reconcile", moduleReady), hasSpan("POST configmaps", inRuntime), hasSpan("POST secrets", inRuntime),
			hasSpan("Kyma reconcile", ready),
			Satisfy(connected)))

		By("a pass that finds nothing to do")
		atRest()
		before := c.spansOf(kyma.Name)
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { metav1.SetMetaDataLabel(&k.ObjectMeta, "team", "one") })
		atRest()
		Expect(c.spansOf(kyma.Name)).To(Equal(before))
		Expect(seriesOf("lifecycle_mgr_trace_spans_total", "outcome", nil)()).To(And(
			HaveKeyWithValue("queue_full", 0.0), HaveKeyWithValue("refused", 0.0), HaveKeyWithValue("sent", BeNumerically(">", 10))))

		By("its deletion, which is another change")
		remove(kyma)
		Eventually(c.traceOf(kyma.Name, "2")).Should(And(
			hasSpan("DELETE manifests.operator.kyma-project.io", inHub), hasSpan("Manifest reconcile", ofModule),
			hasSpan("DELETE configmaps", map[string]string{"lifecycle_mgr.cluster": "runtime"}), Satisfy(connected)))
		stopManager() // sends the rest
		access := &corev1.Secret{}
		Expect(env.Hub.Client.Get(ctx(), client.ObjectKeyFromObject(kyma), access)).To(Succeed())
		for _, secret := range append(secretsOf(access.Data[v1beta2.AccessSecretKey], password), []byte(value)) {
			Expect(bytes.Contains(c.sent(), secret)).To(BeFalse(), "a secret was sent to the collector")
		}
	})

	DescribeTable("block nothing", func(collector func() string, counted string) {
		begun := time.Now()
		stopManager()
		normal := time.Since(begun)
		lines := func() int {
			return env.Log.Times("traces", "The collector takes no traces; they are dropped and counted until it does")
		}
		before := lines()
		withCollector(collector())
		env.FaultFree()
		readyKyma(env.Runtimes[0], testkit.WithModule(offerMaps("1.0.0")))
		if counted != "" {
			Eventually(seriesOf("lifecycle_mgr_trace_spans_total", "outcome", nil)).Should(HaveKeyWithValue(counted, BeNumerically(">", 0)))
			Expect(lines()-before).To(Equal(1), "an outage is one line")
		}
		begun = time.Now()
		stopManager()
		Expect(time.Since(begun)).To(BeNumerically("<", normal+4*time.Second), "two seconds are for the last spans")
	},
		Entry("where the collector is dead", func() string {
			return "http://127.0.0.1:1" // a port that was free a moment ago may already be that of a server
		}, "refused"),
		Entry("where the collector accepts and never answers", func() string {
			listener := listen()
			DeferCleanup(listener.Close)
			return "http://" + listener.Addr().String()
		}, ""),
		Entry("where the collector answers errors", func() string {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
			}))
			DeferCleanup(server.Close)
			return server.URL
		}, "refused"),
	)
})

func listen() net.Listener {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx(), "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	return listener
}
