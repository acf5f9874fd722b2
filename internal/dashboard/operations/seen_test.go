package operations

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// datedCatalogOf returns a catalog with a version and an expiry.
func datedCatalogOf(t *testing.T, version int64, expires time.Time, templates ...*v1beta2.ModuleTemplate) []byte {
	t.Helper()
	var all []*v1beta2.ModuleTemplate
	for _, template := range templates {
		made := template.DeepCopy()
		made.Annotations = maps.Clone(made.Annotations)
		if made.Annotations == nil {
			made.Annotations = map[string]string{}
		}
		made.Annotations[communitycatalog.AnnotationVersion] = strconv.FormatInt(version, 10)
		made.Annotations[communitycatalog.AnnotationExpires] = expires.UTC().Format(time.RFC3339)
		all = append(all, made)
	}
	return catalogOf(t, all...)
}

// publicKey returns the public key of catalogKey.
func publicKey(t *testing.T) string {
	t.Helper()
	key, err := catalogKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: text}))
}

// TestSeen_AnUpgradeTakesNoOldCatalog: the version that was seen of a source counts for tests, previews and operations; and so does its
// expiry.
func TestSeen_AnUpgradeTakesNoOldCatalog(t *testing.T) {
	b := newBench(t)
	admin, widget := b.admin(), testkit.Unique("widget")
	server, serves := b.catalogServer()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	b.engine.options.Catalogs.Now = func() time.Time { return now }
	red, blue := b.community(widget, "0.1.0", "red"), b.community(widget, "0.2.0", "blue")
	source := communitycatalog.Source{Name: "ours", URL: server.URL + "/all-modules.yaml", Key: publicKey(t)}
	if _, err := b.engine.AddSource(t.Context(), admin, source); err != nil {
		t.Fatal(err)
	}
	seen := func(want int64) {
		t.Helper()
		kept, err := communitycatalog.SourceStore{Client: b.WithWatch, Namespace: b.namespace}.Get(t.Context(), "ours")
		if err != nil || kept.Version != want {
			t.Errorf("version %d is kept, want %d (%v)", kept.Version, want, err)
		}
	}

	old := datedCatalogOf(t, 5, now.AddDate(0, 1, 0), red)
	serves(old)
	install := addCommunity(widget, "")
	install.Source = "ours"
	if preview := b.previews(admin, install); preview.Refused != "" {
		t.Fatalf("%+v", preview)
	}
	seen(0) // a preview writes nothing
	b.succeeds(admin, install)
	seen(5)
	if version := b.origin(widget).Version; version != 5 {
		t.Errorf("the module came from version 5 of the catalog, and its record says %d", version)
	}
	kept := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: widget + "-0.1.0"}, kept); err != nil {
		t.Error(err)
	} else if _, there := kept.Annotations[communitycatalog.AnnotationExpires]; there {
		t.Error("a template of the cluster says when its catalog expires")
	}

	serves(datedCatalogOf(t, 6, now.AddDate(0, 1, 0), red, blue))
	if _, err := b.engine.TestSource(t.Context(), admin, communitycatalog.Source{Name: "ours"}); err != nil {
		t.Fatal(err)
	}
	seen(6)
	serves(old)
	const word = "is version 5, and version 6 of it was seen"
	upgrade := Request{Kind: Upgrade, Items: []Item{{Module: widget}}}
	b.stays(admin, upgrade, "0.1.0", word, func(communitycatalog.SourceStore) error { return nil })
	for _, asks := range []communitycatalog.Source{{Name: "ours"}, source} {
		if _, err := b.engine.TestSource(t.Context(), admin, asks); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("what is offered comes from an old catalog: %v", err)
		}
	}
	if sources, err := b.engine.Sources(t.Context(), admin); err != nil || len(sources) != 1 || !strings.Contains(sources[0].Error, word) {
		t.Errorf("%+v %v", sources, err)
	}

	serves(datedCatalogOf(t, 6, now.AddDate(0, 0, 3), red, blue))
	if preview := b.previews(admin, upgrade); preview.Refused != "" || !strings.Contains(strings.Join(preview.Warnings, " "), "expires on 2026-06-04") {
		t.Errorf("there is no warning: %+v", preview)
	}
	now = now.AddDate(0, 0, 4)
	b.stays(admin, upgrade, "0.1.0", "expired on 2026-06-04", func(communitycatalog.SourceStore) error { return nil })
	serves(catalogOf(t, red, blue))
	b.stays(admin, upgrade, "0.1.0", "says no version", func(communitycatalog.SourceStore) error { return nil })
	b.succeeds(admin, Request{Kind: Delete, Module: widget})
}

// A page of the dashboard reads a source at each visit: it writes only if the result differs or the last check is old.
func TestSeen_ASourceThatIsTestedAgainIsNotWritten(t *testing.T) {
	b := newBench(t)
	admin := b.admin()
	server, serves := b.catalogServer()
	red := b.community(testkit.Unique("widget"), "0.1.0", "red")
	serves(catalogOf(t, red))
	if _, err := b.engine.AddSource(t.Context(), admin, communitycatalog.Source{Name: "ours", URL: server.URL + "/all-modules.yaml"}); err != nil {
		t.Fatal(err)
	}
	stored := func() *corev1.ConfigMap {
		source := &corev1.ConfigMap{}
		if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "catalog-source-ours"}, source); err != nil {
			t.Fatal(err)
		}
		return source
	}
	age := func() {
		source := stored()
		source.Data["checked"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		if err := b.Update(t.Context(), source); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		sentence string
		prepare  func()
		written  bool
	}{
		{"the same as when it was added", func() {}, false},
		{"the same after an hour", age, true},
		{"the same again, at once", func() {}, false},
		{"another number of modules", func() { serves(catalogOf(t, red, b.community(testkit.Unique("gadget"), "0.1.0", "red"))) }, true},
		{"the same again", func() {}, false},
		{"it is broken", func() { serves([]byte("\x00")) }, true},
		{"it is still broken", func() {}, false},
		{"it is whole again", func() { serves(catalogOf(t, red)) }, true},
	} {
		step.prepare()
		before := stored().ResourceVersion
		_, _ = b.engine.TestSource(t.Context(), admin, communitycatalog.Source{Name: "ours"})
		if written := stored().ResourceVersion != before; written != step.written {
			t.Errorf("%s: written %t, want %t", step.sentence, written, step.written)
		}
	}
}

// TestSeen_ASourceThatIsTestedInAnotherWay is another source: its result is not recorded on the stored one.
func TestSeen_ASourceThatIsTestedInAnotherWay(t *testing.T) {
	b := newBench(t)
	admin := b.admin()
	server, serves := b.catalogServer()
	serves(catalogOf(t, b.community(testkit.Unique("widget"), "0.1.0", "red")))
	source := communitycatalog.Source{Name: "ours", URL: server.URL + "/all-modules.yaml", Digest: "sha256:" + strings.Repeat("0", 64)}
	if _, err := b.engine.AddSource(t.Context(), admin, source); err != nil {
		t.Fatal(err)
	}
	source.Digest = ""
	if _, err := b.engine.TestSource(t.Context(), admin, source); err != nil {
		t.Fatal(err)
	}
	kept, err := communitycatalog.SourceStore{Client: b.WithWatch, Namespace: b.namespace}.Get(t.Context(), "ours")
	if err != nil || kept.Read != nil || !strings.Contains(kept.Error, "was asked for") {
		t.Errorf("it is kept with a digest that nothing has, could not be read when it was added, and was read: %+v %v", kept, err)
	}
}
