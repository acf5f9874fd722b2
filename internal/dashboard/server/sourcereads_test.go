package server

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// market is a web server with a catalog, which may be changed or taken away.
type market struct {
	*httptest.Server
	text  atomic.Value
	asked atomic.Int32
}

func newMarket(t *testing.T, versions ...string) *market {
	t.Helper()
	m := &market{}
	m.sells(versions...)
	m.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		m.asked.Add(1)
		if text, _ := m.text.Load().(string); text != "" {
			_, _ = w.Write([]byte(text))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(m.Close)
	return m
}

// sells changes the versions of module stall in the catalog; without any, there is none.
func (m *market) sells(versions ...string) {
	var text strings.Builder
	for _, version := range versions {
		fmt.Fprintf(&text, `---
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata:
  name: stall-%[1]s
  annotations: {operator.kyma-project.io/description: Sells newspapers., operator.kyma-project.io/raw-manifest-digest: "sha256:%[2]s"}
spec:
  moduleName: stall
  version: %[1]s
  info: {repository: https://example.com/stall, documentation: https://example.com/stall/docs}
  resources: [{name: rawManifest, link: https://example.com/stall-%[1]s.yaml}]
`, version, strings.Repeat("a", 64))
	}
	m.text.Store(text.String())
}

func (m *market) source() communitycatalog.Source {
	return communitycatalog.Source{Name: "market", URL: m.URL + "/all-modules.yaml"}
}

// selling starts dashboards that trust the market, and keep sources in a namespace.
func (m *market) selling(t *testing.T, namespace string) func(*Options) {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw})
	return func(o *Options) {
		tasks, err := operations.New(operations.Options{
			Records: o.Config, Namespace: namespace, Sources: namespace, Patience: time.Minute,
			Catalogs: communitycatalog.Limits{AllowPrivate: true, Registries: content.Registries{
				Policy: func(string) content.HostPolicy { return content.HostPolicy{CA: ca} },
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		o.Tasks = tasks
	}
}

// installed creates the record of a module that came from a source.
func (s *site) installed(module, version string, from communitycatalog.Source) {
	s.Helper()
	note := modulestatus.DirectNote{
		Version: version, Complete: true, Type: modulestatus.Community, Origin: &modulestatus.Origin{Name: from.Name, URL: from.URL},
	}
	annotations, err := note.Annotations()
	if err != nil {
		s.Fatal(err)
	}
	var data bytes.Buffer
	packer := gzip.NewWriter(&data)
	_, _ = packer.Write([]byte("[]"))
	_ = packer.Close()
	record := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: modulestatus.DirectNamespace, Name: "manifest.direct-" + module, Labels: note.Labels(module), Annotations: annotations,
		},
		Data: map[string][]byte{"record.json": []byte(`{"format":1}`), "entries.json.gz": data.Bytes()},
	}
	s.make(namespace(modulestatus.DirectNamespace), record)
	s.Cleanup(func() { _ = s.admin.Delete(s.Context(), record) })
}

// sourcesRead returns what the catalog has of the market when that was read.
func (s *site) sourcesRead(query string) (catalogList, sourceLine) {
	s.Helper()
	var list catalogList
	eventually(s.T, 20*time.Second, "the source is read", func() bool {
		list = get[catalogList](s, "/api/v1/catalog?"+query)
		return len(list.Sources) == 1 && list.Sources[0].State != sourceReading
	})
	return list, list.Sources[0]
}

func TestCatalog_HasWhatSourcesOffer(t *testing.T) {
	m := newMarket(t, "1.0.0", "1.1.0")
	s := open(t, ModeLocal, m.selling(t, "bazaar"))
	s.make(namespace("bazaar"), s.template("bazaar", "stall", "0.9.0"))
	s.enter()
	added := fmt.Sprintf(`{"name":"market","url":%q}`, m.source().URL)
	if r := s.do(http.MethodPost, "/api/v1/sources", added); r.status != http.StatusCreated {
		t.Fatalf("%d %s", r.status, r.body)
	}
	list, line := s.sourcesRead("search=newspapers")
	if list.Total != 1 || list.Items[0].Name != "stall" || list.Items[0].Source != "market" || len(list.Items[0].Versions) != 2 {
		t.Fatalf("%+v", list)
	}
	row := list.Items[0]
	if row.Description != "Sells newspapers." || row.Type != modulestatus.Community ||
		row.Vouched == nil || row.Vouched.State != modulestatus.VouchedPinned {
		t.Errorf("%+v %+v", row, row.Vouched)
	}
	if line.State != sourceRead || !line.Shown || line.Read == nil || line.Modules != 1 || line.Trust != trustAddress || line.Error != "" {
		t.Errorf("%+v", line)
	}
	asked := m.asked.Load()
	for query, want := range map[string][]string{
		"search=stall&source=market":               {"market"},
		"search=stall&source=%40cluster":           {""},
		"search=stall":                             {"", "market"},
		"search=stall&sort=-source":                {"market", ""},
		"search=stall&installed=true":              {},
		"search=stall&type=manageable":             {},
		"search=stall&source=market&source=nosuch": {"market"},
	} {
		got := []string{}
		for _, one := range get[catalogList](s, "/api/v1/catalog?"+query).Items {
			got = append(got, one.Source)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	one := get[modulestatus.Offer](s, "/api/v1/catalog/stall?source=market")
	if len(one.Versions) != 2 || one.Versions[0].Vouched == nil || one.Source != "market" ||
		one.Documentation != "https://example.com/stall/docs" {
		t.Errorf("%+v", one)
	}
	if r := s.do(http.MethodGet, "/api/v1/catalog/stall?source=nosuch", ""); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/api/v1/catalog/nosuch?source=market", ""); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.body)
	}
	if again := m.asked.Load(); again != asked {
		t.Errorf("the source was read %d times more", again-asked)
	}

	m.sells() // it cannot be read any more, and what was read of it stays
	s.server.sourceReads.jobs.forget(stockKey(sourceStored(s, m)))
	eventually(t, 20*time.Second, "the failure is told", func() bool {
		list, line = s.sourcesRead("search=stall&source=market")
		return line.State == sourceFailed
	})
	if list.Total != 1 || !line.Shown || line.Read == nil || line.Error == "" {
		t.Errorf("%+v %+v", list, line)
	}

	m.sells("2.0.0")
	if r := s.do(http.MethodPost, "/api/v1/sources/test", `{"name":"market"}`); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	list = get[catalogList](s, "/api/v1/catalog?source=market")
	if list.Total != 1 || list.Items[0].Versions[0].Version != "2.0.0" {
		t.Errorf("what a user has just read is not shown: %+v", list)
	}
	if r := s.do(http.MethodDelete, "/api/v1/sources/market", ""); r.status != http.StatusNoContent {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if list = get[catalogList](s, "/api/v1/catalog?search=stall"); list.Total != 1 || len(list.Sources) != 0 {
		t.Errorf("the source is removed: %+v", list)
	}
}

func sourceStored(s *site, m *market) communitycatalog.Source {
	is := m.source()
	is.Kind = communitycatalog.HTTPS
	return is
}

func TestSourced_ANewerVersionOfTheSourceIsAnUpgrade(t *testing.T) {
	m := newMarket(t, "1.0.0", "1.1.0", "1.2.0-rc1")
	s := open(t, ModeLocal, m.selling(t, "fair"))
	s.make(namespace("fair"))
	store := communitycatalog.SourceStore{Client: s.admin, Namespace: "fair"}
	if err := store.Add(t.Context(), m.source(), false); err != nil {
		t.Fatal(err)
	}
	s.installed("stall", "1.0.0", m.source())
	s.enter()
	found := func(query string) []moduleRow {
		return get[List[moduleRow]](s, "/api/v1/modules?search=stall&"+query).Items
	}
	eventually(t, 20*time.Second, "it is outdated", func() bool { return len(found("outdated=true")) == 1 })
	if row := found("")[0]; row.Version.Available != "1.1.0" || row.Version.Installed != "1.0.0" || row.Kyma != "" {
		t.Errorf("%+v", row.Version)
	}
	if got := get[overview](s, "/api/v1/overview"); got.Outdated != 1 {
		t.Errorf("the overview counts %d", got.Outdated)
	}
	one := get[moduleDetail](s, "/api/v1/direct/stall")
	if one.Module.Version.Available != "1.1.0" || len(one.Versions) != 3 || one.Versions[0].Version != "1.2.0-rc1" {
		t.Errorf("%+v", one.Versions)
	}
	if review := get[versionReview](s, "/api/v1/direct/stall/review?version=1.1.0"); review.Against != "1.0.0" || review.Version != "1.1.0" {
		t.Errorf("%+v", review)
	}
	list := get[catalogList](s, "/api/v1/catalog?installed=true&source=market")
	if list.Total != 1 || list.Items[0].Installed[0].Version != "1.0.0" {
		t.Errorf("%+v", list)
	}

	m.sells() // an unreachable source takes no upgrade away
	s.server.sourceReads.jobs.forget(stockKey(sourceStored(s, m)))
	eventually(t, 20*time.Second, "the failure is told", func() bool {
		_, line := s.sourcesRead("")
		return line.State == sourceFailed
	})
	if len(found("outdated=true")) != 1 {
		t.Error("it is up to date since its source cannot be read")
	}
	if err := store.Remove(t.Context(), "market"); err != nil {
		t.Fatal(err)
	}
	s.server.sourceReads.changed(nil)
	if len(found("outdated=true")) != 0 {
		t.Error("a source that is gone still offers an upgrade")
	}
}

func TestSourced_WhoMayNotListSourcesIsTold(t *testing.T) {
	m := newMarket(t, "1.1.0")
	s := open(t, ModeCluster, m.selling(t, "closed"))
	s.make(namespace("closed"))
	if err := (communitycatalog.SourceStore{Client: s.admin, Namespace: "closed"}).Add(t.Context(), m.source(), false); err != nil {
		t.Fatal(err)
	}
	s.enterAs(s.token("sees-no-sources", "*"))
	list := get[catalogList](s, "/api/v1/catalog?source=market")
	if list.Total != 0 || len(list.Sources) != 0 || !slices.ContainsFunc(list.Unread, func(u Unread) bool { return u.Kind == "ConfigMap" }) {
		t.Errorf("%+v", list)
	}
	if r := s.do(http.MethodGet, "/api/v1/catalog/stall?source=market", ""); r.status != http.StatusForbidden {
		t.Errorf("%d %s", r.status, r.body)
	}
	if m.asked.Load() != 0 {
		t.Error("a source was read for a user who may not see it")
	}
}

func TestKnownSource_WhatCountsAsAnUpgrade(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	signed := communitycatalog.Source{Name: "ours", URL: "https://example.com/all-modules.yaml", Kind: communitycatalog.HTTPS, Key: "key"}
	seen, pinned := signed, signed
	seen.Version, pinned.Key, pinned.Digest = 7, "", "sha256:"+strings.Repeat("a", 64)
	fresh := communitycatalog.Freshness{Version: 6, Expires: now.AddDate(0, 1, 0)}
	old := communitycatalog.Freshness{Version: 6, Expires: now.AddDate(0, -1, 0)}
	for name, c := range map[string]struct {
		source communitycatalog.Source
		fresh  *communitycatalog.Freshness
		want   bool
	}{
		"what was never read":                     {signed, nil, false},
		"what was read":                           {signed, &fresh, true},
		"what has expired since":                  {signed, &old, false},
		"what expired, of a digest":               {pinned, &old, true},
		"older than what another client has seen": {seen, &fresh, false},
	} {
		b := knownSource{Source: c.source}
		if c.fresh != nil {
			b.stock = &stock{catalog: communitycatalog.Catalog{Freshness: *c.fresh}}
		}
		if got := b.counts(now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSourceFor_IsTheSourceThatAnUpgradeAsks(t *testing.T) {
	const url = "https://example.com/all-modules.yaml"
	plain := knownSource{Source: communitycatalog.Source{Name: "plain", URL: url, Kind: communitycatalog.HTTPS}}
	pinned := knownSource{Source: communitycatalog.Source{
		Name: "pinned", URL: url, Kind: communitycatalog.HTTPS, Digest: "sha256:" + strings.Repeat("a", 64),
	}}
	vouched := &modulestatus.Origin{Name: "plain", URL: url, Digest: pinned.Digest, Pinned: true}
	for name, c := range map[string]struct {
		origin *modulestatus.Origin
		kept   []knownSource
		want   string
	}{
		"none":                         {nil, []knownSource{plain}, ""},
		"by name":                      {&modulestatus.Origin{Name: "plain", URL: url}, []knownSource{pinned, plain}, "plain"},
		"by address, the stricter one": {&modulestatus.Origin{URL: url}, []knownSource{plain, pinned}, "pinned"},
		"its name is gone":             {&modulestatus.Origin{Name: "other", URL: url}, []knownSource{plain}, ""},
		"another address":              {&modulestatus.Origin{Name: "plain", URL: url + "x"}, []knownSource{plain}, ""},
		"it stopped vouching":          {vouched, []knownSource{plain}, ""},
		"no source is kept":            {&modulestatus.Origin{URL: url}, nil, ""},
	} {
		got := ""
		if found := sourceFor(c.origin, c.kept); found != nil {
			got = found.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSourceReads_KeepABoundedNumber(t *testing.T) {
	k := newSourceReads(t.Context(), func() {})
	began := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for i := range mostStocks + 5 {
		k.put(fmt.Sprint(i), communitycatalog.Catalog{}, began.Add(time.Duration(i)*time.Second))
	}
	if len(k.stocks) != mostStocks || k.get("0") != nil || k.get(fmt.Sprint(mostStocks)) == nil {
		t.Errorf("%d are kept", len(k.stocks))
	}
}

func TestKnownSource_TheNewestTemplateWithoutAVersion(t *testing.T) {
	of := func(versions ...string) *knownSource {
		b := &knownSource{stock: &stock{}}
		for _, version := range versions {
			template := v1beta2.ModuleTemplate{}
			template.Spec.ModuleName, template.Spec.Version = "stall", version
			b.stock.catalog.Templates = append(b.stock.catalog.Templates, template)
		}
		return b
	}
	for name, c := range map[string]struct {
		from          *knownSource
		version, want string
	}{
		"never read":            {&knownSource{}, "", ""},
		"the newest":            {of("1.0.0", "1.10.0", "1.9.0"), "", "1.10.0"},
		"only pre-releases":     {of("1.0.0-a", "1.0.0-b"), "", "1.0.0-b"},
		"a named one":           {of("1.0.0", "1.1.0"), "1.0.0", "1.0.0"},
		"one that is not there": {of("1.0.0"), "2.0.0", ""},
		"no module of the name": {of(), "", ""},
	} {
		got := ""
		if found := c.from.template("stall", c.version); found != nil {
			got = found.ModuleVersion()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
