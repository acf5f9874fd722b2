package modulecontent

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// startHelmRepository serves one chart whose ConfigMap names its origin.
func startHelmRepository(t *testing.T, from string) string {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(content.Archive([]content.File{
		{Path: "sample/Chart.yaml", Data: []byte("apiVersion: v2\nname: sample\nversion: 1.0.0\n")},
		{Path: "sample/templates/a.yaml", Data: []byte(strings.ReplaceAll(configMap, "sample", from+"-{{ .Release.Name }}"))},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "apiVersion: v1\nentries:\n  sample:\n  - {name: sample, version: 1.0.0, urls: [sample-1.0.0.tgz]}\n")
	})
	mux.HandleFunc("/sample-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed.Bytes()) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// Two repositories have a chart of the same name and version. Neither is used for the other, within a Manifest or between Manifests, and
// each installation has its own release name.
func TestChartsOfTheSameNameAreNotMixed(t *testing.T) {
	contents := startRegistry(t).objects(t)
	contents.Policy = func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }
	here, there := startHelmRepository(t, "here"), startHelmRepository(t, "there")
	source := func(url string) string { return fmt.Sprintf(`{"url":%q,"chartName":"sample","version":"1.0.0"}`, url) }
	for name, test := range map[string]struct{ sources, want []string }{
		"in one Manifest":                  {[]string{source(here), source(there), source(here)}, []string{"here-first", "there-second", "here-third"}},
		"in another one, in reverse order": {[]string{source(there), source(here)}, []string{"there-first", "here-second"}},
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := contents.Read(t.Context(), manifestOf(test.sources...), anyCluster)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, part := range parts {
				for _, object := range part.Rendered.Objects() {
					got = append(got, object.GetName())
				}
			}
			if strings.Join(got, " ") != strings.Join(test.want, " ") {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A chart that generates something gives it to each installation apart, and the same to one installation as long as that keeps nothing else.
func TestWhatChartsGenerateIsOfOneInstallation(t *testing.T) {
	contents := startRegistry(t).objects(t)
	contents.Policy = func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }
	url := startHelmRepository(t, "{{ randAlpha 16 | lower }}")
	store := generated.Store{}
	read := 0
	keeps := func(context.Context) (runtimes.Capabilities, error) {
		return runtimes.Capabilities{Installation: &runtimes.Installation{Kept: func(context.Context) (generated.Store, error) {
			read++
			return store, nil
		}}}, nil
	}
	name := func(manifest string, cluster func(context.Context) (runtimes.Capabilities, error)) string {
		t.Helper()
		m := manifestOf(fmt.Sprintf(`{"url":%q,"chartName":"sample","version":"1.0.0"}`, url))
		m.Name = manifest
		parts, err := contents.Read(t.Context(), m, cluster)
		if err != nil || len(parts[0].Rendered.Generated) != 1 {
			t.Fatalf("%v, generated %v", err, parts)
		}
		return parts[0].Rendered.Objects()[0].GetName()
	}
	looked := name("one", anyCluster)
	if looked != name("two", anyCluster) || read != 0 {
		t.Error("what is only looked at was rendered apart, or asked the cluster")
	}
	one, two := name("one", keeps), name("two", keeps)
	if one == two || one == looked || two == looked {
		t.Errorf("installations share a value: %s, %s, %s", looked, one, two)
	}
	if again := name("one", keeps); again != one {
		t.Errorf("another value before the first was kept: %s, then %s", one, again)
	}
	if store.Version = "7"; name("one", keeps) == one {
		t.Error("the same value for a Secret that a user has emptied")
	}
}

// releasingCluster has an installation, and one object that its chart looks up.
type releasingCluster struct {
	exists bool
	store  generated.Store
	answer string
	asked  int
}

func (c *releasingCluster) of(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{Installation: &runtimes.Installation{
		Exists: c.exists,
		Kept:   func(context.Context) (generated.Store, error) { return c.store, nil },
		Lookup: func(context.Context, render.Lookup) (json.RawMessage, error) {
			c.asked++
			return json.RawMessage(c.answer), nil
		},
	}}, nil
}

// What a release has found stays, until content or values are others.
func TestAReleaseAsksTheClusterOnce(t *testing.T) {
	contents := startRegistry(t).objects(t)
	contents.Policy = func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }
	url := startHelmRepository(t, "{{ with lookup `v1` `Secret` `a` `b` }}{{ .found }}{{ else }}none{{ end }}-{{ .Release.Revision }}")
	cluster := &releasingCluster{answer: `{"found":"red"}`}
	m := manifestOf(fmt.Sprintf(`{"url":%q,"chartName":"sample","version":"1.0.0"}`, url))
	read := func(want string, asked int) Part {
		t.Helper()
		cluster.asked = 0
		parts, err := contents.Read(t.Context(), m, cluster.of)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(parts[0].Rendered.Objects()[0].GetName(), "-first"); got != want || cluster.asked != asked {
			t.Errorf("got %s and %d lookups, want %s and %d", got, cluster.asked, want, asked)
		}
		return parts[0]
	}
	keep := func(part Part) {
		cluster.exists = true
		cluster.store = cluster.store.With(part.Source.Name, part.Rendered.Generated)
		m.Status.Resolved = []v1beta2.ResolvedSource{part.Source}
	}
	first := read("red-1", 1)
	keep(first)
	cluster.answer = `{"found":"blue"}`
	read("red-1", 0)
	m.Spec.Values = &runtime.RawExtension{Raw: []byte(`{"other":true}`)}
	keep(read("blue-2", 1))
	read("blue-2", 0)
	m.Spec.Values = nil // the way back is a release, too
	keep(read("blue-3", 1))

	cluster.store = generated.Store{} // emptied by a user, or installed before there were releases
	read("none-1", 0)
	m.Status.Resolved[0].Digest = "sha256:" + strings.Repeat("0", 64) // the version before had other content
	m.Status.Resolved[0].Reference = "another"
	read("blue-2", 1)
	if looked, err := contents.Read(t.Context(), m, anyCluster); err != nil || looked[0].Rendered.Objects()[0].GetName() != "none-1-first" {
		t.Errorf("looked at: %v, %v", looked, err)
	}
}

// What others write into a cluster is not covered by a signature.
func TestSignedContentFindsNothing(t *testing.T) {
	allowed := policyOf(descriptor.RequireEnforce)
	allowed.Allow = []descriptor.Allowance{descriptor.AllowValues}
	for name, test := range map[string]struct {
		covering covering
		found    bool
	}{
		"content without a rule":               {covering{}, true},
		"content that nothing is asked of":     {covering{cover: &SignedDigests{Policy: policyOf(descriptor.RequireOff)}}, true},
		"content whose signature is only told": {covering{cover: &SignedDigests{Policy: policyOf(descriptor.RequireAudit)}}, true},
		"content that has to be signed":        {covering{cover: &SignedDigests{Policy: policyOf(descriptor.RequireEnforce)}, refuses: true}, false},
		"content that is only told about, where the policy enforces elsewhere": {covering{
			cover: &SignedDigests{Policy: policyOf(descriptor.RequireAudit)},
			floor: &covering{cover: &SignedDigests{Policy: policyOf(descriptor.RequireEnforce)}, refuses: true},
		}, false},
		"content whose rule allows values": {covering{cover: &SignedDigests{Policy: allowed}, refuses: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			known := runtimes.Capabilities{Installation: &runtimes.Installation{
				Lookup: func(context.Context, render.Lookup) (json.RawMessage, error) { return json.RawMessage("found"), nil },
			}}
			r := &reading{covering: &test.covering, known: &known, manifest: manifest}
			if found := r.lookups() != nil; found != test.found {
				t.Errorf("lookups are answered: %t", found)
			}
		})
	}
}

func anyCluster(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{KubeVersion: "v1.36.3"}, nil
}
