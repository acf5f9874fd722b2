package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// lookup is something to see in a cluster while a sample is installed: arguments of kubectl, and what they print.
type lookup struct {
	args []string
	want string
}

// sampleSpec is a Manifest that the playground has written, with what it makes.
type sampleSpec struct {
	name, shows string
	local       bool // into the hub
	resolved    string
	sees        []lookup
	// leaves are namespaces that are no one's and stay.
	leaves []string
}

var sampleSpecs = []sampleSpec{
	{
		name: "oci-helm-chart", shows: "a Helm chart of an OCI registry with a config layer",
		resolved: `spec.config= lantern=1.0.0 `,
		sees: []lookup{
			{[]string{"get", "deployment", "lantern", "--namespace=harbour", "-o", "jsonpath={.status.readyReplicas}"}, "2"},
			{[]string{"get", "configmap", "lantern-light", "--namespace=harbour", "-o", "jsonpath={.data.colour}"}, "green"},
		},
		leaves: []string{"harbour"},
	},
	{
		name: "helm-repository", shows: "the newest chart of a range out of a Helm repository",
		resolved: `harbour-light=1.1.0 `,
		sees: []lookup{
			{[]string{"get", "deployment", "harbour-light", "-o", "jsonpath={.status.readyReplicas}"}, "1"},
			{[]string{"get", "configmap", "harbour-light-light", "-o", "jsonpath={.data.colour} {.data.chart}"}, "red 1.1.0"},
		},
	},
	{
		name: "crds-config-resource", shows: "definitions, config, two charts and a custom resource",
		resolved: `spec.config= spec.crds= lighthouse= almanac=1.0.0 `,
		sees: []lookup{
			{[]string{"get", "samplecrd", "sample-crd-from-manifest", "-o", "jsonpath={.spec.randomkey}"}, "samplevalue"},
			{[]string{"get", "configmap", "lighthouse-light", "-o", "jsonpath={.data.colour}"}, "red"},
			{[]string{"get", "configmap", "almanac", "-o", "jsonpath={.data.year}"}, "2027"},
		},
	},
	{
		name: "kustomize", shows: "a kustomization", resolved: `weathervane= `,
		sees: []lookup{
			{[]string{"get", "deployment", "demo-weathervane", "-o", "jsonpath={.status.readyReplicas}"}, "2"},
		},
	},
	{
		name: "plain-bundle", shows: "a plain bundle in an image, with a definition and objects of it", resolved: `buoy= `,
		sees: []lookup{
			{[]string{"get", "buoys", "--namespace=buoys", "-o", "jsonpath={.items[*].spec.depth}"}, "12 30"},
			{
				[]string{"get", "configmap", "signal", "--namespace=buoys", "-o", "jsonpath={.data.template}"},
				"Nothing is evaluated in a plain bundle: {{ .Depth }} stays.",
			},
		},
	},
	{
		name: "plain-bundle-configmaps", shows: "a plain bundle out of ConfigMaps in the hub itself", local: true, resolved: `tide-table= `,
		sees: []lookup{
			{[]string{"get", "configmap", "tide-table", "--namespace=tides", "-o", "jsonpath={.data.high}"}, "06:12"},
		},
	},
	{
		name: "plain-bundle-http", shows: "a plain bundle from a web server", resolved: `signpost= `,
		sees: []lookup{
			{[]string{"get", "service", "signpost", "-o", "jsonpath={.spec.ports[0].port}"}, "80"},
			{[]string{"get", "configmap", "signpost", "-o", "jsonpath={.data.left}"}, "village"},
		},
	},
}

// describeSamples are the specs about what the playground offers beside its Kymas.
func describeSamples(playground func() *program) {
	for _, sample := range sampleSpecs {
		It("installs and removes "+sample.shows, func() { sample.roundTrip(playground()) })
	}
	It("offers exactly these samples", func() {
		files, err := filepath.Glob(filepath.Join(playground().state, "samples", "*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).To(HaveLen(len(sampleSpecs)+3), "and the two of v1alpha1, and that of the rollout")
	})
	It("makes the YAML of the first README files work", func() { worksAsInOldDays(playground()) })
	It("shows what Manifests are made of to the one who may read it", func() { readsContent(playground()) })
}

// roundTrip applies the sample, looks at what it makes, removes it and finds nothing of it.
func (s sampleSpec) roundTrip(p *program) {
	GinkgoHelper()
	cluster := p.runtime
	if s.local {
		cluster = p.hub
	}
	p.apply(s.name)
	resolved := `jsonpath={range .status.resolved[*]}{.name}={.version} {end}`
	Expect(p.hub("get", "manifest", s.name, "-o", resolved)).To(Equal(strings.TrimSpace(s.resolved)))
	for _, see := range s.sees {
		Expect(cluster(see.args...)).To(Equal(see.want), "kubectl %s", strings.Join(see.args, " "))
	}
	p.remove(s.name)
	kinds := "namespaces,customresourcedefinitions,deployments,configmaps,services"
	Expect(cluster("get", kinds, "--all-namespaces", "--selector=app.kubernetes.io/component="+s.name, "-o", "name")).To(BeEmpty())
	for _, namespace := range s.leaves {
		cluster("delete", "namespace", namespace, minute)
	}
}

func (p *program) apply(sample string) {
	GinkgoHelper()
	p.hub("apply", "--validate=strict", "--filename="+filepath.Join(p.state, "samples", sample+".yaml"))
	p.hub("wait", untilReady, minute, "manifest/"+sample)
}

func (p *program) remove(sample string) {
	GinkgoHelper()
	p.hub("delete", minute, "--filename="+filepath.Join(p.state, "samples", sample+".yaml"))
}

// readsContent asks the content server as a user with a token, as one without and as one who may not.
func readsContent(p *program) {
	GinkgoHelper()
	p.apply("plain-bundle-http")
	url := p.hub("get", "manifest", "plain-bundle-http", "-o", "jsonpath={.status.resolved[0].contentURL}")
	digest := p.hub("get", "manifest", "plain-bundle-http", "-o", "jsonpath={.status.resolved[0].digest}")
	token := p.hub("create", "token", "content-reader")

	got := fetch(url, token)
	Expect(got.status).To(Equal(http.StatusOK), "%s", got.body)
	Expect(got.header.Get("ETag")).To(Equal(`"` + digest + `"`))
	Expect(got.header.Get("Content-Type")).To(Equal("application/x-tar"))

	got = fetch(url+"/manifests/settings.yaml", token)
	Expect(got.status).To(Equal(http.StatusOK), "%s", got.body)
	Expect(got.body).To(ContainSubstring("right: harbour"))

	got = fetch(url, "")
	Expect(got.status).To(Equal(http.StatusUnauthorized), "%s", got.body)
	got = fetch(url, p.hub("create", "token", "default"))
	Expect(got.status).To(Equal(http.StatusForbidden), "%s", got.body)
	Expect(got.body).To(ContainSubstring("manifests/content"))
	p.remove("plain-bundle-http")
}

// fetched is what a server answered.
type fetched struct {
	status int
	header http.Header
	body   string
}

// fetch asks without checking the certificate, which the manager has made for itself.
func fetch(url, token string) fetched {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return fetched{status: answer.StatusCode, header: answer.Header, body: string(body)}
}
