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

func anyCluster(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{KubeVersion: "v1.36.3"}, nil
}
