package content

import (
	"archive/tar"
	"encoding/json"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	testImage   = "bundles/sample"
	tarGzipType = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// registryStub is a registry that serves what a test puts on it, right or wrong: a proper one would not take most of it.
type registryStub struct {
	// blobs, manifests and tags by digest, digest and name; a digest of a tag names a manifest.
	blobs, manifests, tags map[string]string
}

func newShelf() *registryStub {
	return &registryStub{blobs: map[string]string{}, manifests: map[string]string{}, tags: map[string]string{}}
}

func (s *registryStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"+testImage+"/"), "/")
	found := s.blobs
	if kind == manifests {
		found = s.manifests
		if target, ok := s.tags[name]; ok {
			name = target
		}
		w.Header().Set("Docker-Content-Digest", name)
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
	}
	data, ok := found[name]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(data))
	}
}

// layer puts a blob and gives its descriptor.
func (s *registryStub) layer(data string) ocispec.Descriptor {
	s.blobs[digestOf(data)] = data
	return ocispec.Descriptor{MediaType: tarGzipType, Digest: digest.Digest(digestOf(data)), Size: int64(len(data))}
}

// manifest puts a manifest of these layers and gives its descriptor.
func (s *registryStub) manifest(t testing.TB, layers ...ocispec.Descriptor) ocispec.Descriptor {
	t.Helper()
	return s.put(t, map[string]any{
		"schemaVersion": 2, "mediaType": ocispec.MediaTypeImageManifest, "layers": layers,
		"config": ocispec.Descriptor{MediaType: ocispec.MediaTypeImageConfig, Digest: zeros, Size: 2},
	})
}

func (s *registryStub) index(t testing.TB, entries ...ocispec.Descriptor) ocispec.Descriptor {
	t.Helper()
	return s.put(t, map[string]any{"schemaVersion": 2, "mediaType": ocispec.MediaTypeImageIndex, "manifests": entries})
}

func (s *registryStub) put(t testing.TB, document any) ocispec.Descriptor {
	t.Helper()
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return s.putText(string(data))
}

func (s *registryStub) putText(data string) ocispec.Descriptor {
	s.manifests[digestOf(data)] = data
	s.tags["v1"] = digestOf(data)
	return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.Digest(digestOf(data)), Size: int64(len(data))}
}

func platform(of ocispec.Descriptor, system, architecture string) ocispec.Descriptor {
	of.Platform = &ocispec.Platform{OS: system, Architecture: architecture}
	return of
}

// fetchImage resolves and fetches the shelf's image.
func fetchImage(t testing.TB, oci *OCI, host string) (*Tree, error) {
	t.Helper()
	source := &ImageSource{OCI: oci, Image: host + "/" + testImage + ":v1"}
	resolved, err := source.Resolve(t.Context())
	if err != nil {
		return nil, err
	}
	return source.Fetch(t.Context(), resolved)
}

func TestImageLayersLieOverEachOther(t *testing.T) {
	dir := func(name string) entry { return entry{name: name, kind: tar.TypeDir} }
	base := []entry{{name: "a/one", data: "1"}, {name: "a/b/two", data: "2"}, {name: "three", data: "3"}}
	for name, test := range map[string]struct {
		layers [][]entry
		want   *Tree
	}{
		"one layer":                            {[][]entry{base}, tree("a/one", "1", "a/b/two", "2", "three", "3")},
		"a file of an upper layer wins":        {[][]entry{base, {{name: "three", data: "new"}}}, tree("a/one", "1", "a/b/two", "2", "three", "new")},
		"a whiteout removes a file":            {[][]entry{base, {{name: "a/.wh.one"}}}, tree("a/b/two", "2", "three", "3")},
		"a whiteout removes a folder":          {[][]entry{base, {{name: ".wh.a"}}}, tree("three", "3")},
		"a whiteout of nothing removes none":   {[][]entry{base, {{name: "a/.wh.nothing"}}}, tree("a/one", "1", "a/b/two", "2", "three", "3")},
		"a whiteout is not for its own layer":  {[][]entry{base, {{name: "three", data: "new"}, {name: ".wh.three"}}}, tree("a/one", "1", "a/b/two", "2", "three", "new")},
		"a whiteout is not for upper layers":   {[][]entry{{{name: ".wh.three"}}, base}, tree("a/one", "1", "a/b/two", "2", "three", "3")},
		"an opaque folder hides what is below": {[][]entry{base, {{name: "a/.wh..wh..opq"}, {name: "a/new", data: "4"}}}, tree("three", "3", "a/new", "4")},
		"an opaque folder keeps its own, in any order": {
			[][]entry{base, {{name: "a/new", data: "4"}, {name: "a/.wh..wh..opq"}}}, tree("three", "3", "a/new", "4"),
		},
		"an opaque root hides everything":        {[][]entry{base, {{name: ".wh..wh..opq"}, {name: "new"}}}, tree("new", "")},
		"a file in the place of a folder":        {[][]entry{base, {{name: "a", data: "4"}}}, tree("three", "3", "a", "4")},
		"a folder in the place of a file":        {[][]entry{base, {dir("three/")}}, tree("a/one", "1", "a/b/two", "2")},
		"a file below what was a file":           {[][]entry{base, {{name: "three/four", data: "4"}}}, tree("a/one", "1", "a/b/two", "2", "three/four", "4")},
		"a folder over a folder changes nothing": {[][]entry{base, {dir("a/")}}, tree("a/one", "1", "a/b/two", "2", "three", "3")},
		"a layer without files between others":   {[][]entry{base, {dir("new/")}, {{name: "x"}}}, tree("a/one", "1", "a/b/two", "2", "three", "3", "x", "")},
		"a removed file may come back":           {[][]entry{base, {{name: ".wh.three"}}, {{name: "three", data: "4"}}}, tree("a/one", "1", "a/b/two", "2", "three", "4")},
		"names that only begin alike are kept":   {[][]entry{{{name: "ab/one"}, {name: "a/one"}}, {{name: ".wh.a"}}}, tree("ab/one", "")},
	} {
		t.Run(name, func(t *testing.T) {
			on := newShelf()
			source, host, _ := serve(t, on)
			var layers []ocispec.Descriptor
			for i, entries := range test.layers {
				data := archive(t, entries...)
				if i%2 == 0 {
					data = zip(t, data)
				}
				layers = append(layers, on.layer(data))
			}
			on.manifest(t, layers...)
			got, err := fetchImage(t, source, host)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestIndexGivesTheImageOfThisMachine(t *testing.T) {
	for name, test := range map[string]struct {
		platforms []string
		want      string
	}{
		"this machine's before amd64":        {[]string{"linux/s390x", "linux/amd64", "linux/" + runtime.GOARCH}, "linux/" + runtime.GOARCH},
		"amd64 before others":                {[]string{"linux/s390x", "windows/amd64", "linux/amd64"}, "linux/amd64"},
		"the first when there is no better":  {[]string{"unknown/unknown", "linux/s390x", "linux/ppc64le"}, "linux/s390x"},
		"one without platform":               {[]string{"unknown/unknown", ""}, ""},
		"windows when there is nothing else": {[]string{"windows/amd64"}, "windows/amd64"},
	} {
		t.Run(name, func(t *testing.T) {
			on := newShelf()
			source, host, _ := serve(t, on)
			var entries []ocispec.Descriptor
			for _, each := range test.platforms {
				entry := on.manifest(t, on.layer(archive(t, entry{name: "platform", data: each})))
				if system, architecture, ok := strings.Cut(each, "/"); ok {
					entry = platform(entry, system, architecture)
				}
				entries = append(entries, entry)
			}
			on.index(t, entries...)
			got, err := fetchImage(t, source, host)
			if diff := cmp.Diff(tree("platform", test.want), got); diff != "" || err != nil {
				t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestAttestationsAreNoImages(t *testing.T) {
	on := newShelf()
	source, host, _ := serve(t, on)
	marked := on.manifest(t, on.layer(archive(t, entry{name: "a", data: "attestation"})))
	marked.Annotations = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	on.index(t, marked, on.manifest(t, on.layer(archive(t, entry{name: "a", data: "image"}))))
	got, err := fetchImage(t, source, host)
	if diff := cmp.Diff(tree("a", "image"), got); diff != "" || err != nil {
		t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
	}
}

// The media types of layers that builders and other tools write.
func TestLayersOfManyTools(t *testing.T) {
	for mediaType, data := range map[string]string{
		"application/vnd.oci.image.layer.v1.tar":               archive(t, entry{name: "a"}),
		"application/vnd.docker.image.rootfs.diff.tar.gzip":    zip(t, archive(t, entry{name: "a"})),
		"application/vnd.cncf.flux.content.v1.tar+gzip":        zip(t, archive(t, entry{name: "a"})),
		"application/vnd.docker.image.rootfs.diff.tar":         archive(t, entry{name: "a"}),
		"application/vnd.cncf.helm.chart.content.v1.tar+gzip":  zip(t, archive(t, entry{name: "a"})),
		"application/x-tar":                                    archive(t, entry{name: "a"}),
		"application/vnd.oci.image.layer.v1.tar+gzip":          archive(t, entry{name: "a"}), // it lies, harmlessly
		"application/vnd.example.module.manifests.v1.tar+gzip": zip(t, archive(t, entry{name: "a"})),
	} {
		on := newShelf()
		source, host, _ := serve(t, on)
		layer := on.layer(data)
		layer.MediaType = mediaType
		on.manifest(t, layer)
		if _, err := fetchImage(t, source, host); err != nil {
			t.Errorf("%s: %v", mediaType, err)
		}
	}
}
