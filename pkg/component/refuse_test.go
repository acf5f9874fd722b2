package component_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

func TestRefuse_ATagOnSomethingElseIsLeftAlone(t *testing.T) {
	to := serve(t)
	url := "http://" + to.Host + "/v2/component-descriptors/" + name + "/manifests/1.0.0"
	image := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","layers":[],
		"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"` + digest.FromString("{}").String() + `","size":2}}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusCreated {
		t.Fatal(response.Status)
	}
	to.writes.Store(0)
	for _, options := range [][]component.Option{nil, {component.Overwrite}} {
		_, err := component.Push(t.Context(), to.Registry, harbour("1.0.0"), options...)
		if descriptor.ReasonOf(err) != descriptor.ReasonInvalid || !strings.Contains(err.Error(), "deleted in the registry first") ||
			to.writes.Load() != 0 {
			t.Errorf("error %v after %d writes, want reason %s and none", err, to.writes.Load(), descriptor.ReasonInvalid)
		}
	}
}

func TestPushRefusesWhatNobodyCouldUse(t *testing.T) {
	for title, test := range map[string]struct {
		change  func(*component.Version)
		message string
	}{
		"a name without a domain": {func(v *component.Version) { v.Name = "harbour" }, "no OCM component name"},
		"a version that is none":  {func(v *component.Version) { v.Version = "latest" }, "no version"},
		"no provider":             {func(v *component.Version) { v.Provider = "" }, "no provider"},
		"an unknown schema":       {func(v *component.Version) { v.Schema = "v1" }, `schema "v1"`},
		"an empty resource": {
			func(v *component.Version) { v.Resources[0].Data = nil }, "resource raw-manifest is empty",
		},
		"a resource name with a blank": {
			func(v *component.Version) { v.Resources[0].Name = "raw manifest" }, "no name for a resource",
		},
		"two resources of one name": {
			func(v *component.Version) { v.Resources = append(v.Resources, v.Resources[0]) }, "two resources raw-manifest",
		},
	} {
		t.Run(title, func(t *testing.T) {
			to := serve(t)
			version := harbour("1.0.0")
			test.change(&version)
			_, err := component.Push(t.Context(), to.Registry, version, component.Overwrite)
			if err == nil || !strings.Contains(err.Error(), test.message) || to.writes.Load() != 0 {
				t.Errorf("error %v after %d writes, want one that says %q", err, to.writes.Load(), test.message)
			}
		})
	}
}

func TestRefuse_ADescriptorThatNoReaderAcceptsIsNotTagged(t *testing.T) {
	to := serve(t)
	version := harbour("1.0.0")
	version.Provider = strings.Repeat("x", descriptor.DefaultMaxDescriptor)
	_, err := component.Push(t.Context(), to.Registry, version)
	if err == nil || !strings.Contains(err.Error(), "split the component") {
		t.Errorf("error %v, want one about the descriptor's size", err)
	}
	if _, err := to.reader().GetDigest(t.Context(), name, "1.0.0"); descriptor.ReasonOf(err) != descriptor.ReasonNotFound {
		t.Errorf("error %v, want reason %s", err, descriptor.ReasonNotFound)
	}
}
