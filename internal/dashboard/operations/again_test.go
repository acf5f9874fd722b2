package operations

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// catalogOf returns a catalog with some templates, as it is published.
func catalogOf(t *testing.T, templates ...*v1beta2.ModuleTemplate) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, template := range templates {
		made := template.DeepCopy()
		made.APIVersion, made.Kind, made.Namespace = v1beta2.GroupVersion.String(), "ModuleTemplate", ""
		text, err := yaml.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("---\n")
		all.Write(text)
	}
	return all.Bytes()
}

// catalogKey signs catalogs.
var catalogKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// catalogServer serves a catalog that may be changed, with its signature, and makes the engine trust the server.
func (b *bench) catalogServer() (server *httptest.Server, serves func([]byte)) {
	b.Helper()
	var text atomic.Value
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := text.Load().([]byte)
		if strings.HasSuffix(r.URL.Path, communitycatalog.SignatureSuffix) {
			key, _ := catalogKey()
			signature, _ := communitycatalog.Sign(key, data)
			data = []byte(signature)
		}
		_, _ = w.Write(data)
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	b.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	b.engine.options.Sources = b.namespace
	b.engine.options.Catalogs = communitycatalog.Limits{AllowPrivate: true, Registries: content.Registries{
		Policy: func(string) content.HostPolicy { return content.HostPolicy{CA: ca} },
	}}
	return server, func(data []byte) { text.Store(data) }
}

// origin returns the catalog in the record of a module.
func (b *bench) origin(module string) modulestatus.Origin {
	b.Helper()
	record := b.record(module)
	if record == nil || record.Origin == nil {
		b.Fatalf("nothing is recorded of where it came from: %+v", record)
	}
	return *record.Origin
}

// TestAgain_AnUpgradeAsksTheSourceAgain: without naming it, and by its digest. If the source cannot be used, the installed version stays.
func TestAgain_AnUpgradeAsksTheSourceAgain(t *testing.T) {
	b := newBench(t)
	admin, widget := b.admin(), testkit.Unique("widget")
	server, serves := b.catalogServer()
	url := server.URL + "/all-modules.yaml"
	red, blue, green := b.community(widget, "0.1.0", "red"), b.community(widget, "0.2.0", "blue"), b.community(widget, "0.3.0", "green")
	serves(catalogOf(t, red))
	if _, err := b.engine.AddSource(t.Context(), admin, sourceOf("ours", url)); err != nil {
		t.Fatal(err)
	}
	install := addCommunity(widget, "")
	install.Source = "ours"
	b.succeeds(admin, install)
	first := b.origin(widget)
	if diff := cmp.Diff(modulestatus.Origin{Name: "ours", URL: url, Digest: first.Digest}, first); diff != "" || first.Digest == "" {
		t.Fatalf("the record (-want +got):\n%s", diff)
	}

	serves(catalogOf(t, red, blue))
	upgrade := Request{Kind: Upgrade, Items: []Item{{Module: widget}}}
	if preview := b.previews(admin, upgrade); preview.Refused != "" || len(changed(preview)) == 0 {
		t.Fatalf("%+v", preview)
	}
	b.succeeds(admin, upgrade)
	if b.record(widget).Version != "0.2.0" || b.origin(widget).Digest == first.Digest {
		t.Fatalf("%+v", b.record(widget))
	}
	kept := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: widget + "-0.2.0"}, kept); err != nil || modulestatus.OriginOf(kept) == nil {
		t.Errorf("the cluster does not know what is installed: %v %v", err, kept.Annotations)
	}

	serves(catalogOf(t, red, blue, green))
	b.stays(admin, upgrade, "0.2.0", "digest", func(shelf communitycatalog.SourceStore) error {
		return shelf.Add(t.Context(), communitycatalog.Source{Name: "ours", URL: url, Digest: b.origin(widget).Digest}, true)
	})
	b.stays(admin, upgrade, "0.2.0", "not kept there any more", func(shelf communitycatalog.SourceStore) error { return shelf.Remove(t.Context(), "ours") })
	b.stays(admin, upgrade, "0.2.0", "cannot be read now", func(shelf communitycatalog.SourceStore) error {
		server.Close()
		return shelf.Add(t.Context(), communitycatalog.Source{Name: "ours", URL: url}, false)
	})
	b.succeeds(admin, Request{Kind: Delete, Module: widget})
	if b.record(widget) != nil || b.configMap(widget) != nil {
		t.Error("the source is offline, and the module cannot be deleted")
	}
}

// stays changes the sources, and checks that an upgrade is then refused, in one sentence, and that nothing has changed.
func (b *bench) stays(as Actor, upgrade Request, version, word string, do func(communitycatalog.SourceStore) error) {
	b.Helper()
	if err := do(communitycatalog.SourceStore{Client: b.WithWatch, Namespace: b.namespace}); err != nil {
		b.Fatal(err)
	}
	module := upgrade.Items[0].Module
	preview := b.previews(as, upgrade)
	if !strings.Contains(preview.Refused, word) || !strings.Contains(preview.Refused, "stays as it is") {
		b.Errorf("want %q: %+v", word, preview)
	}
	if _, err := b.engine.Start(b.Context(), as, upgrade); err == nil || err.Error() != preview.Refused {
		b.Errorf("it was started all the same: %v", err)
	}
	if record := b.record(module); record.Version != version || !record.Complete || b.configMap(module) == nil {
		b.Errorf("it did not stay: %+v", record)
	}
}

// TestAgain_ARecordOfBeforeIsUpgradedFromTheCluster: so is a module that was taken from there since.
func TestAgain_ARecordOfBeforeIsUpgradedFromTheCluster(t *testing.T) {
	b := newBench(t)
	admin, widget := b.admin(), b.widget()
	b.succeeds(admin, addCommunity(widget, "0.1.0"))
	if b.record(widget).Origin != nil {
		t.Fatalf("%+v", b.record(widget))
	}
	b.succeeds(admin, Request{Kind: Upgrade, Items: []Item{{Module: widget}}})
	if b.record(widget).Version != "0.2.0" {
		t.Errorf("%+v", b.record(widget))
	}
	if communitycatalog.AnnotationOrigin != modulestatus.AnnotationOrigin {
		t.Error("what a catalog must not have, and what is noted of it, are two things")
	}
}
