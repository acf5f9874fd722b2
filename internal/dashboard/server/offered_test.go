package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// lamps creates a module without a release, whose link leads to a server that has the definition of its kind Lamp, which no cluster has.
func (s *site) lamps(name, link string, change ...func(*v1beta2.ModuleTemplate)) {
	s.Helper()
	template := s.template(name, "lamps", "1.0.0").(*v1beta2.ModuleTemplate)
	template.Spec.Data = wick()
	template.Spec.Data.SetKind("Lamp")
	template.Spec.Resources = nil
	if link != "" {
		template.Spec.Resources = []v1beta2.Named{{Name: "rawManifest", Link: link}}
	}
	for _, f := range change {
		f(template)
	}
	s.make(namespace(name), template)
}

// publisher serves the definition of Lamp, and counts the requests.
func publisher(t *testing.T) (server *httptest.Server, digest string, asked *atomic.Int32) {
	t.Helper()
	text, err := json.Marshal(definitionOf("lamps", "Lamp"))
	if err != nil {
		t.Fatal(err)
	}
	asked = &atomic.Int32{}
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(text)
	return server, "sha256:" + hex.EncodeToString(sum[:]), asked
}

func (s *site) trust(server *httptest.Server) func(*Options) {
	return func(o *Options) {
		o.linkCA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
}

// wanted waits until the template is available, and reads its configuration.
func (s *site) wanted(path string) offeredResource {
	s.Helper()
	eventually(s.T, 10*time.Second, "it can be had", func() bool { return s.do(http.MethodGet, path, "").status == http.StatusOK })
	return get[offeredResource](s, path)
}

func TestOffered_TheSchemaOfWhatTheClusterKnows(t *testing.T) {
	s := open(t, ModeLocal)
	s.here("known")
	s.enter()
	got := s.wanted("/api/v1/catalog/lantern/resource?namespace=known&version=1.0.0&kyma=known/local")
	if got.From != fromCluster || got.Schema == nil || got.Schema.Type != "object" || got.Reason != "" || got.Version != "1.0.0" {
		t.Errorf("got %+v", got)
	}
	if spec, _ := got.Default["spec"].(map[string]any); spec["length"] != float64(3) {
		t.Errorf("the default is %v", got.Default)
	}
	if newest := s.wanted("/api/v1/catalog/lantern/resource?namespace=known"); newest.Version != "1.0.0" {
		t.Errorf("without a version it is %q", newest.Version)
	}
	for path, word := range map[string]string{
		"lantern/resource?namespace=known&version=9.9.9":     "no version 9.9.9",
		"lantern/resource?namespace=elsewhere":               "namespace elsewhere",
		"lantern/resource?namespace=known&kyma=known/nobody": "no Kyma known/nobody",
		"nothing/resource": "no module nothing",
		"lantern/resource?namespace=source:x&version=1.0.0": "source:x",
	} {
		r := s.do(http.MethodGet, "/api/v1/catalog/"+path, "")
		if r.status != http.StatusNotFound || !strings.Contains(r.problem(t).Message, word) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestOffered_TheSchemaOfWhatAVersionWouldBring(t *testing.T) {
	server, digest, asked := publisher(t)
	promise := func(digest string) func(*v1beta2.ModuleTemplate) {
		return func(t *v1beta2.ModuleTemplate) {
			t.Annotations = map[string]string{v1beta2.AnnotationRawManifestDigest: digest}
		}
	}
	s := open(t, ModeLocal, (&site{}).trust(server))
	s.lamps("linked", server.URL+"/m.yaml", promise(digest))
	s.lamps("broken-promise", server.URL+"/m.yaml", promise("sha256:"+strings.Repeat("0", 64)))
	s.lamps("unlinked", "")
	s.lamps("other-version", server.URL+"/m.yaml", func(t *v1beta2.ModuleTemplate) { t.Spec.Data.SetAPIVersion("example.com/v2") })
	s.lamps("nothing-to-configure", "", func(t *v1beta2.ModuleTemplate) { t.Spec.Data = nil })
	s.enter()
	for namespace, c := range map[string]struct {
		from   schemaFrom
		reason string
	}{
		"linked":               {fromLink, ""},
		"broken-promise":       {"", "its digest differs from"},
		"unlinked":             {"", "does not know Lamp.example.com in version v1 yet; and ModuleTemplate lamps-1.0.0 has no link"},
		"other-version":        {"", "does not define Lamp.example.com in version v2"},
		"nothing-to-configure": {"", noResource},
	} {
		got := s.wanted("/api/v1/catalog/lamps/resource?version=1.0.0&namespace=" + namespace)
		if got.From != c.from || (got.Schema != nil) != (c.from != "") || !strings.Contains(got.Reason, c.reason) || (c.reason == "") != (got.Reason == "") {
			t.Errorf("%s: got %+v", namespace, got)
		}
	}
	before := asked.Load()
	get[offeredResource](s, "/api/v1/catalog/lamps/resource?version=1.0.0&namespace=linked")
	if asked.Load() != before {
		t.Error("a link is read again for every look")
	}
}

func TestOffered_InAClusterNoLinkLeadsInside(t *testing.T) {
	server, _, asked := publisher(t)
	s := open(t, ModeCluster, (&site{}).trust(server))
	s.lamps("inside", server.URL+"/m.yaml")
	s.enterAs(s.token("reads-links", "*"))
	got := s.wanted("/api/v1/catalog/lamps/resource?namespace=inside")
	if got.Schema != nil || !strings.Contains(got.Reason, "link rawManifest of ModuleTemplate lamps-1.0.0 cannot be read") || asked.Load() != 0 {
		t.Errorf("got %+v after %d requests", got, asked.Load())
	}
	if strings.Contains(got.Reason, strings.TrimPrefix(server.URL, "https://")) {
		t.Errorf("the address is told: %s", got.Reason)
	}
}

func TestOffered_ASingleOfferTellsWhatItsTemplateSays(t *testing.T) {
	s := open(t, ModeLocal)
	s.lamps("told", "https://example.com/m.yaml", func(t *v1beta2.ModuleTemplate) {
		t.Spec.Descriptor.Raw = []byte(`{"component": {"name": "example.com/lamps", "resources": [{"access": {"imageReference": "r.example/l:1"}}]},
			"signatures": [{"name": "kyma-module-signature"}]}`)
	})
	s.enter()
	path := "/api/v1/catalog/lamps?namespace=told"
	var offer modulestatus.Offer
	eventually(t, 10*time.Second, "it can be had", func() bool {
		r := s.do(http.MethodGet, path, "")
		return r.status == http.StatusOK && json.Unmarshal(r.body, &offer) == nil && offer.Namespace == "told"
	})
	v := offer.Versions[0]
	if len(v.Images) != 1 || v.Vouched == nil || v.Vouched.State != modulestatus.VouchedSigned || v.Vouched.By[0] != "kyma-module-signature" {
		t.Errorf("got %+v", v)
	}
	for _, o := range get[List[modulestatus.Offer]](s, "/api/v1/catalog?search=lamps").Items {
		if o.Versions[0].Vouched != nil {
			t.Error("lists tell what descriptors say")
		}
	}
}
