package component_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

func TestFrom_FromAComponentNothingIsLost(t *testing.T) {
	to := serve(t)
	version := full("1.0.0+build.1", descriptor.SchemaV3Alpha1)
	version.Resources = append(version.Resources, component.Resource{
		Name: "chart", Type: "helmChart", Access: json.RawMessage(`{"type":"helm","helmRepository":"https://charts.example.org","helmChart":"harbour:1.0.0"}`),
	})
	want := push(t, to.Registry, version)
	text := "http://" + to.Host + "//" + name + ":" + version.Version
	again, err := component.From(t.Context(), text, component.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if got := build(t, filepath.Join(t.TempDir(), "a"), again); got != want {
		t.Errorf("built again it is %s instead of %s", got, want)
	}
	again.Version, again.Resources = "2.0.0", append(again.Resources, component.Resource{Name: "more", Data: []byte("kind: C")})
	push(t, to.Registry, again)
	got, err := to.reader().Get(t.Context(), name, "2.0.0")
	if err != nil || len(got.Resources) != 6 || got.Resources[0].Version != "2.0.0" || got.Resources[1].Version != "0.1.0" {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestFrom_FromAnImageItIsAResourceWithADigest(t *testing.T) {
	to := serve(t)
	image, digest := to.index(t, "team/operator_x:1.0.0")
	for _, text := range []string{"http://" + image, image} {
		version, err := component.From(t.Context(), text, component.Access{PlainHTTP: text == image})
		if err != nil {
			t.Fatal(err)
		}
		want := component.Resource{Name: "operator_x", Type: "ociImage", Version: "1.0.0", Image: image, ImageDigest: digest}
		if got := version.Resources[0]; got.Name != want.Name || got.Type != want.Type || got.Version != want.Version || got.Image != want.Image || got.ImageDigest != want.ImageDigest {
			t.Errorf("%+v, want %+v", got, want)
		}
		version.Name, version.Version, version.Provider = name, "1.0.0", "example.org"
		build(t, filepath.Join(t.TempDir(), "a"), version)
	}
	for _, text := range []string{"http://" + to.Host + "/none:1", "oci://" + to.Host, "http://" + to.Host + "//" + name + ":3.0.0", "./none//" + name} {
		if _, err := component.From(t.Context(), text, component.Access{}); err == nil {
			t.Errorf("started from %s", text)
		}
	}
}

func TestUnpack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tgz")
	build(t, path, full("1.0.0", ""))
	dir := filepath.Join(t.TempDir(), "out")
	if err := component.Unpack(t.Context(), component.Ref{Path: path}, dir); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"raw-manifest/m.yaml": manifest, "default-cr.yaml": "kind: B", "again.yaml": "kind: B"} {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(data) != want {
			t.Errorf("%s has %q, error %v", file, data, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "component-descriptor.yaml")); err != nil || !strings.Contains(string(data), name) {
		t.Errorf("%q, error %v", data, err)
	}
	if err := component.Unpack(t.Context(), component.Ref{Path: path}, dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("error %v", err)
	}
}

func TestUnpackLetsNothingOut(t *testing.T) {
	for title, header := range map[string]*tar.Header{
		"a path that leads out":   {Name: "../evil", Size: 1},
		"an absolute path":        {Name: "/tmp/evil", Size: 1},
		"a link":                  {Name: "evil", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		"a device":                {Name: "evil", Typeflag: tar.TypeChar},
		"a name that is too long": {Name: strings.Repeat("a/", 700) + "x", Size: 1},
	} {
		t.Run(title, func(t *testing.T) {
			var packed bytes.Buffer
			archive := tar.NewWriter(&packed)
			if err := archive.WriteHeader(header); err != nil {
				t.Fatal(err)
			}
			_, _ = archive.Write(bytes.Repeat([]byte("x"), int(header.Size)))
			_ = archive.Close()
			version := harbour("1.0.0")
			version.Resources[0].Data, version.Resources[0].MediaType = packed.Bytes(), component.MediaTypeTar
			base := t.TempDir()
			build(t, filepath.Join(base, "a"), version)
			if err := component.Unpack(t.Context(), component.Ref{Path: filepath.Join(base, "a")}, filepath.Join(base, "out")); err == nil {
				t.Error("it was unpacked")
			}
			if _, err := os.Lstat(filepath.Join(base, "evil")); err == nil {
				t.Error("it got out")
			}
		})
	}
}

// TestOlderMediaTypesAreReadAndCopied takes the names that OCM had before its own.
func TestOlderMediaTypesAreReadAndCopied(t *testing.T) {
	for _, types := range [][2]string{
		{"application/vnd.gardener.cloud.cnudie.component.config.v1+json", "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml+tar"},
		{"application/vnd.oci.gardener.cloud.cnudie.component-descriptor-metadata.config.v2+json", "application/vnd.oci.gardener.cloud.cnudie.component-descriptor.config.v2+yaml+tar"},
		{"application/vnd.ocm.software.component.config.v1+json", "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+json"},
	} {
		t.Run(types[1], func(t *testing.T) {
			from, to := serve(t), serve(t)
			old := legacy(t, from, types[0], types[1])
			if got := blob(t, at(from.Registry, "1.0.0"), "raw-manifest"); got != manifest {
				t.Errorf("raw-manifest is %q", got)
			}
			path := filepath.Join(t.TempDir(), "a.tar")
			report := doCopy(t, at(from.Registry, "1.0.0"), component.Ref{Path: path}, component.CopyOptions{})
			if report.Digest != old {
				t.Errorf("copied it is %s instead of %s", report.Digest, old)
			}
			if report = doCopy(t, report.Ref, at(to.Registry, ""), component.CopyOptions{}); report.Digest != old {
				t.Errorf("copied on it is %s instead of %s", report.Digest, old)
			}
			if got := push(t, to.Registry, harbour("1.0.0")); got != old {
				t.Errorf("the same content was pushed over it, as %s", got)
			}
			if _, err := component.Sign(t.Context(), to.Registry, name, "1.0.0", &component.Signer{Key: keys()[0]}); err != nil {
				t.Fatal(err)
			}
			got, err := to.reader().Get(t.Context(), name, "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := got.Verify(trusting(keys()[0]), today); err != nil {
				t.Error(err)
			}
			if got := blob(t, at(to.Registry, "1.0.0"), "raw-manifest"); got != manifest {
				t.Errorf("signed, raw-manifest is %q", got)
			}
		})
	}
}

// legacy puts harbour into a registry as older tools did, and tells the digest.
func legacy(t *testing.T, to *served, configType, layerType string) string {
	t.Helper()
	build(t, filepath.Join(t.TempDir(), "a"), harbour("1.0.0"))
	fresh := serve(t)
	push(t, fresh.Registry, harbour("1.0.0"))
	document, err := fresh.reader().GetDocument(t.Context(), name, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	text := document.Text
	if strings.HasSuffix(layerType, "tar") {
		text = component.Tar("component-descriptor.yaml", text)
	}
	repository, err := remote.NewRepository(to.Host + "/component-descriptors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	put := func(mediaType string, data []byte) ocispec.Descriptor {
		made := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := repository.Push(t.Context(), made, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return made
	}
	encode := func(value any) []byte {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	layer := put(layerType, text)
	config := put(configType, encode(map[string]any{"componentDescriptorLayer": layer}))
	root := put(ocispec.MediaTypeImageManifest, encode(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: config,
		Layers: []ocispec.Descriptor{layer, put(component.MediaTypeYAML, []byte(manifest))},
	}))
	if err := repository.Tag(t.Context(), root, "1.0.0"); err != nil {
		t.Fatal(err)
	}
	return root.Digest.String()
}
