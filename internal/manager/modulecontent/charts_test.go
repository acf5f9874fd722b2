package modulecontent

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
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

func anyCluster(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{KubeVersion: "v1.36.3"}, nil
}
