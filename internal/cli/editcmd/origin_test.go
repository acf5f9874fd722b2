package editcmd

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// growingCatalog serves a catalog with the first versions of a module, as many as released holds, and the content that they link to.
func (b *bench) growingCatalog(module string) (server *httptest.Server, ca string, released *atomic.Int64) {
	b.Helper()
	released = &atomic.Int64{}
	released.Store(1)
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if version, is := strings.CutPrefix(r.URL.Path, "/content/"); is {
			fmt.Fprintf(w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: kyma-system}, data: {version: %q}}", module, version)
			return
		}
		for minor := int64(1); minor <= released.Load(); minor++ {
			fmt.Fprintf(w, "---\napiVersion: operator.kyma-project.io/v1beta2\nkind: ModuleTemplate\nmetadata: {name: %[1]s-0.%[2]d.0}\n"+
				"spec: {moduleName: %[1]s, version: 0.%[2]d.0, descriptor: {}, resources: [{name: rawManifest, link: %[3]q}]}\n",
				module, minor, fmt.Sprintf("https://%s/content/0.%d.0", r.Host, minor))
		}
	}))
	b.Cleanup(server.Close)
	return server, b.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))), released
}

// TestOrigin_AnUpgradeAsksTheCatalogAgain: it reads the catalog that the module came from, and nothing else.
func TestOrigin_AnUpgradeAsksTheCatalogAgain(t *testing.T) {
	b := newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	module := testkit.Unique("gizmo")
	server, ca, released := b.growingCatalog(module)
	url := server.URL + "/all-modules.yaml"
	again := " --allow-private-catalogs --registry-ca-file " + ca
	installed := func() modulestatus.Direct {
		t.Helper()
		record, err := directinstall.Find(t.Context(), b, module)
		if err != nil || record == nil || record.Origin == nil {
			t.Fatalf("%+v %v", record, err)
		}
		return *record
	}
	b.steps(
		step{"catalog pull " + module + " --allow-private-catalogs --ca-file " + ca + " --from " + url, 0, []string{"pulled"}},
		step{"catalog pull " + module + " --allow-private-catalogs --ca-file " + ca + " --from " + url, 0, []string{"unchanged"}},
		step{"add " + module + " --community --registry-ca-file " + ca, 0, []string{"enabled", "0.1.0"}},
		step{"upgrade " + module + again, 0, []string{"up to date", "0.1.0"}},
	)
	if first := installed(); first.Origin.URL != url || first.Origin.Digest == "" || first.Origin.Pinned || first.Origin.Name != "" {
		t.Errorf("%+v", first.Origin)
	}
	released.Store(2)
	b.steps(
		step{"upgrade " + module + " --registry-ca-file " + ca, 64, []string{url, "stays as it is", "--allow-private-catalogs"}},
		step{"upgrade " + module + " --dry-run=client" + again, 0, []string{"0.2.0", "dry run"}},
		step{"diff " + module + again, 1, []string{"Update ConfigMap"}},
		step{"upgrade " + module + " --to 0.9.0" + again, 4, []string{"it has 0.2.0, 0.1.0"}},
	)
	b.noTemplate(module + "-0.2.0")
	b.steps(step{"upgrade " + module + again, 0, []string{"changed", "0.2.0"}})
	kept := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: module + "-0.2.0"}, kept); err != nil || modulestatus.OriginOf(kept) == nil {
		t.Errorf("what is installed is not known in the cluster: %v", err)
	}
	if now := installed(); now.Version != "0.2.0" || now.Template.Name != kept.Name {
		t.Errorf("%+v", now)
	}
	server.Close()
	b.steps(
		step{"upgrade " + module + again, 1, []string{"stays as it is", "cannot be read now", "--template takes a file"}},
		step{"delete " + module + " --yes", 0, []string{"disabled"}},
	)
}

// TestOrigin_APinnedCatalogIsAskedByItsDigest: the digest that was requested at the installation is requested again.
func TestOrigin_APinnedCatalogIsAskedByItsDigest(t *testing.T) {
	b := newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	module := testkit.Unique("gizmo")
	server, ca, released := b.growingCatalog(module)
	url := server.URL + "/all-modules.yaml"
	pull := "catalog pull " + module + " --allow-private-catalogs --ca-file " + ca + " --from " + url
	_, _, said := b.run(strings.Fields(pull + " --digest sha256:" + strings.Repeat("0", 64))...)
	_, digest, _ := strings.Cut(said, "has digest ")
	digest, _, _ = strings.Cut(digest, ",")
	b.steps(
		step{pull + " --digest " + digest, 0, []string{"pulled"}},
		step{"add " + module + " --community --registry-ca-file " + ca, 0, []string{"enabled", "0.1.0"}},
	)
	released.Store(2)
	b.steps(
		step{"upgrade " + module + " --allow-private-catalogs --registry-ca-file " + ca, 1, []string{"DigestMismatch", "stays as it is"}},
		step{"delete " + module + " --yes", 0, []string{"disabled"}},
	)
}
