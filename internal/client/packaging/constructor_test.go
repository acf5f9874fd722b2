package packaging_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The target of a link is written beside the constructor, since it may change later.
func TestConstructorOfALink(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(configMap)) }))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	put(t, filepath.Join(dir, packaging.ConfigFile), config(server.URL+"/manifest.yaml", "defaultCR: "+server.URL+"/cr.yaml\n"))
	source, found, err := packaging.Load(t.Context(), dir, &packaging.Fetcher{Client: server.Client()})
	if err != nil || source == nil {
		t.Fatalf("%v %v", err, found)
	}
	version, err := source.ComponentVersion(t.Context(), &packaging.GitSource{RepoURL: "https://example.com/notes", Commit: "abc", Ref: "refs/heads/main"})
	if err != nil {
		t.Fatal(err)
	}
	layout := packaging.Layout{File: filepath.Join(dir, "out", "c.yaml"), Template: filepath.Join(dir, "template.yaml")}
	text, beside, err := source.Constructor(version, layout)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"raw-manifest", "default-cr"} {
		if got := string(beside[filepath.Join(dir, "out", "c-files", name+".yaml")]); got != configMap {
			t.Errorf("beside the constructor, %s is %q", name, got)
		}
		if !strings.Contains(string(text), "path: c-files/"+name+".yaml\n") {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
	for _, want := range []string{"path: ../template.yaml", "name: module-sources", "type: gitHub", "value: refs/heads/main", "commit: abc"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again, _, err := source.Constructor(version, layout)
	if err != nil || !slices.Equal(again, text) {
		t.Errorf("the second time it is another one: %v", err)
	}
	version.Resources = append(version.Resources, component.Resource{
		Name: "broken", Data: []byte("x"), MoreLabels: []descriptor.Label{{Name: "none", Value: []byte("{")}},
	})
	if _, _, err := source.Constructor(version, layout); err == nil || !strings.Contains(err.Error(), "resource broken: label none") {
		t.Errorf("a label that cannot be read: %v", err)
	}
}
