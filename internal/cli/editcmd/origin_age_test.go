package editcmd

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// signedCatalog serves a signed catalog in the version that is set, with as many versions of a module, minus four.
func (b *bench) signedCatalog(module string) (url, ca, public string, version *atomic.Int64) {
	b.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	text, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		b.Fatal(err)
	}
	version = &atomic.Int64{}
	version.Store(5)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if version, is := strings.CutPrefix(r.URL.Path, "/content/"); is {
			fmt.Fprintf(w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: kyma-system}, data: {version: %q}}", module, version)
			return
		}
		var catalog bytes.Buffer
		number := version.Load()
		for minor := int64(1); minor <= number-4; minor++ {
			fmt.Fprintf(&catalog, "---\napiVersion: operator.kyma-project.io/v1beta2\nkind: ModuleTemplate\n"+
				"metadata: {name: %[1]s-0.%[2]d.0, annotations: {%[4]s: '%[5]d', %[6]s: '2126-01-31T00:00:00Z'}}\n"+
				"spec: {moduleName: %[1]s, version: 0.%[2]d.0, descriptor: {}, resources: [{name: rawManifest, link: %[3]q}]}\n",
				module, minor, fmt.Sprintf("https://%s/content/0.%d.0", r.Host, minor), communitycatalog.AnnotationVersion, number, communitycatalog.AnnotationExpires)
		}
		if strings.HasSuffix(r.URL.Path, communitycatalog.SignatureSuffix) {
			signature, _ := communitycatalog.Sign(key, catalog.Bytes())
			catalog.Reset()
			catalog.WriteString(signature)
		}
		_, _ = w.Write(catalog.Bytes())
	}))
	b.Cleanup(server.Close)
	ca = b.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return server.URL + "/all-modules.yaml", ca, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: text})), version
}

// TestOriginAge_AnUpgradeTakesNoOldCatalog: neither one older than that which the module came from, nor one older than was seen of the
// stored source.
func TestOriginAge_AnUpgradeTakesNoOldCatalog(t *testing.T) {
	b := newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	module := testkit.Unique("gizmo")
	url, ca, public, version := b.signedCatalog(module)
	version.Store(6)
	upgrade := "upgrade " + module + " --allow-private-catalogs --registry-ca-file " + ca
	b.steps(
		step{"catalog pull " + module + "@0.1.0 --allow-private-catalogs --ca-file " + ca + " --key " + b.file("ours.pub", public) + " --from " + url, 0, []string{"pulled"}},
		step{"add " + module + " --community --registry-ca-file " + ca, 0, []string{"enabled", "0.1.0"}},
	)
	if record, err := directinstall.Find(t.Context(), b, module); err != nil || record == nil || record.Origin == nil || record.Origin.Version != 6 {
		t.Fatalf("%+v %v", record, err)
	}
	version.Store(5)
	b.steps(step{upgrade, 1, []string{"CatalogOutdated", "is version 5, and version 6 of it was seen", "stays as it is"}})

	home, err := communitycatalog.Home(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	shelf := communitycatalog.SourceStore{Client: b.WithWatch, Namespace: home}
	if err := shelf.Add(t.Context(), communitycatalog.Source{Name: module, URL: url, Key: public}, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shelf.Remove(context.WithoutCancel(t.Context()), module) })
	seen := func(want int64) {
		t.Helper()
		if kept, err := shelf.Get(t.Context(), module); err != nil || kept.Version != want {
			t.Errorf("version %d is kept, want %d (%v)", kept.Version, want, err)
		}
	}
	version.Store(6)
	b.steps(
		step{upgrade + " --dry-run=client", 0, []string{"0.2.0", "dry run"}},
		step{"diff " + module + " --allow-private-catalogs --registry-ca-file " + ca, 1, []string{"Update ConfigMap"}},
	)
	seen(0) // neither changes anything
	b.steps(step{upgrade, 0, []string{"changed", "0.2.0"}})
	seen(6)
	version.Store(5)
	b.steps(step{upgrade, 1, []string{"CatalogOutdated", "stays as it is"}})
	version.Store(7)
	b.steps(step{upgrade, 0, []string{"changed", "0.3.0"}})
	seen(7)
	b.steps(step{"delete " + module + " --yes", 0, []string{"disabled"}})
}
