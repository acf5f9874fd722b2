package content

import (
	"archive/tar"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// maliciousImages are registries that serve something else than they say, or layers that are only wrong together.
var maliciousImages = map[string]struct {
	make   func(t testing.TB, on *registryStub)
	reason string
}{
	"a layer with other bytes": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		on.blobs[layer.Digest.String()] = archive(t, entry{name: "evil"})
		on.manifest(t, layer)
	}, ReasonDigestMismatch},
	"a layer that is cut": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		on.blobs[layer.Digest.String()] = on.blobs[layer.Digest.String()][:100]
		on.manifest(t, layer)
	}, ReasonDigestMismatch},
	"a layer that is missing": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		delete(on.blobs, layer.Digest.String())
		on.manifest(t, layer)
	}, ReasonContentNotFound},
	"a layer that is larger than its manifest says": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.Size = 1
		on.manifest(t, layer)
	}, ReasonDigestMismatch},
	"a layer that is smaller than its manifest says": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.Size += 512
		on.manifest(t, layer)
	}, ReasonDigestMismatch},
	"a layer of less than no bytes": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.Size = -1
		on.manifest(t, layer)
	}, ReasonContentInvalid},
	"a layer over the limit by its manifest": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.Size = 1 << 40
		on.manifest(t, layer)
	}, ReasonContentTooLarge},
	"layers over the limit together": {func(t testing.TB, on *registryStub) {
		one, two := on.layer(archive(t, entry{name: "a", data: noise(600_000)})), on.layer(archive(t, entry{name: "b", data: noise(600_001)}))
		on.manifest(t, one, two)
	}, ReasonContentTooLarge},
	"layers whose sizes overflow": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.Size = 1<<63 - 1
		on.manifest(t, layer, layer, layer)
	}, ReasonContentTooLarge},
	"a bomb over several layers": {func(t testing.TB, on *registryStub) {
		var layers []ocispec.Descriptor
		for i := range 6 {
			layers = append(layers, on.layer(zip(t, archive(t, entry{name: fmt.Sprintf("f%d", i), data: strings.Repeat("\x00", 900_000)}))))
		}
		on.manifest(t, layers...)
	}, ReasonContentTooLarge},
	"a bomb of one layer many times": {func(t testing.TB, on *registryStub) {
		layer := on.layer(zip(t, archive(t, entry{name: "f", data: strings.Repeat("\x00", 900_000)})))
		on.manifest(t, layer, layer, layer, layer, layer, layer)
	}, ReasonContentTooLarge},
	"too many entries over several layers": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}, entry{name: "b"}, entry{name: "c"}))
		on.manifest(t, layer, layer, layer, layer, layer, layer, layer)
	}, ReasonArchiveRefused},
	"too many layers": {func(t testing.TB, on *registryStub) {
		layers := make([]ocispec.Descriptor, maxLayers+1)
		for i := range layers {
			layers[i] = on.layer(archive(t, entry{name: "a"}))
		}
		on.manifest(t, layers...)
	}, ReasonArchiveRefused},
	"no layer": {func(t testing.TB, on *registryStub) { on.manifest(t) }, ReasonContentInvalid},
	"layers that remove everything": {func(t testing.TB, on *registryStub) {
		on.manifest(t, on.layer(archive(t, entry{name: "a"})), on.layer(archive(t, entry{name: ".wh.a"})))
	}, ReasonContentInvalid},
	"a layer whose digest is a path": {func(t testing.TB, on *registryStub) {
		on.manifest(t, ocispec.Descriptor{MediaType: tarGzipType, Digest: "sha256:../../../etc/passwd", Size: 1})
	}, ReasonContentInvalid},
	"a layer whose digest is of another kind": {func(t testing.TB, on *registryStub) {
		on.manifest(t, ocispec.Descriptor{MediaType: tarGzipType, Digest: digest.SHA512.FromString("x"), Size: 1})
	}, ReasonContentInvalid},
	"a layer without digest": {func(t testing.TB, on *registryStub) {
		on.manifest(t, ocispec.Descriptor{MediaType: tarGzipType, Size: 1})
	}, ReasonContentInvalid},
	"a layer that is kept elsewhere": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.MediaType, layer.URLs = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", []string{"http://169.254.169.254/"}
		on.manifest(t, layer)
	}, ReasonContentInvalid},
	"a layer that may not be distributed": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.MediaType = "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip"
		on.manifest(t, layer)
	}, ReasonContentInvalid},
	"a layer of zstd": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		layer.MediaType = "application/vnd.oci.image.layer.v1.tar+zstd"
		on.manifest(t, layer)
	}, ReasonContentInvalid},
	"a layer that is a page": {func(t testing.TB, on *registryStub) {
		layer := on.layer("<html>")
		layer.MediaType = "text/html"
		on.manifest(t, layer)
	}, ReasonContentInvalid},
	"a link in a lower layer and a file through it": {func(t testing.TB, on *registryStub) {
		on.manifest(t, on.layer(archive(t, entry{name: "l", kind: tar.TypeSymlink, link: "/etc"})), on.layer(archive(t, entry{name: "l/passwd"})))
	}, ReasonArchiveRefused},
	"a whiteout of a parent":               {whiteout(entry{name: "a/.wh..."}), ReasonArchiveRefused},
	"a whiteout of the folder itself":      {whiteout(entry{name: "a/.wh.."}), ReasonArchiveRefused},
	"a whiteout without a name":            {whiteout(entry{name: "a/.wh."}), ReasonArchiveRefused},
	"a whiteout outside":                   {whiteout(entry{name: "../.wh.a"}), ReasonArchiveRefused},
	"a whiteout with content":              {whiteout(entry{name: ".wh.a", data: "x"}), ReasonArchiveRefused},
	"a whiteout that is a folder":          {whiteout(entry{name: ".wh.a/", kind: tar.TypeDir}), ReasonArchiveRefused},
	"a whiteout that is a link":            {whiteout(entry{name: ".wh.a", kind: tar.TypeSymlink, link: "a"}), ReasonArchiveRefused},
	"a whiteout of a whiteout":             {whiteout(entry{name: ".wh..wh.a"}), ReasonArchiveRefused},
	"a file below a whiteout":              {whiteout(entry{name: ".wh.a/b"}), ReasonArchiveRefused},
	"a file below a whiteout, further in":  {whiteout(entry{name: "x/.wh.a/b"}), ReasonArchiveRefused},
	"an opaque mark with content":          {whiteout(entry{name: ".wh..wh..opq", data: "x"}), ReasonArchiveRefused},
	"an opaque mark that is a folder":      {whiteout(entry{name: ".wh..wh..opq/", kind: tar.TypeDir}), ReasonArchiveRefused},
	"a mark of an older system":            {whiteout(entry{name: ".wh..wh.plnk"}), ReasonArchiveRefused},
	"a whiteout as a device":               {whiteout(entry{name: "a", kind: tar.TypeChar}), ReasonArchiveRefused},
	"a manifest that is no JSON":           {text("<html>"), ReasonContentInvalid},
	"a manifest that is a list":            {text("[]"), ReasonContentInvalid},
	"a manifest that is nothing":           {text(""), ReasonContentInvalid},
	"a manifest that is cut":               {text(`{"schemaVersion":2,"layers":[{"mediaType":`), ReasonContentInvalid},
	"a manifest with numbers for text":     {text(`{"schemaVersion":2,"layers":[{"digest":7}]}`), ReasonContentInvalid},
	"a manifest of the first schema":       {text(`{"schemaVersion":1,"fsLayers":[]}`), ReasonContentInvalid},
	"a manifest of another kind":           {text(`{"schemaVersion":2,"mediaType":"text/html","layers":[]}`), ReasonContentInvalid},
	"a manifest that is also an index":     {text(`{"schemaVersion":2,"layers":[],"manifests":[]}`), ReasonContentInvalid},
	"a manifest that says it is an index":  {text(`{"schemaVersion":2,"mediaType":"` + ocispec.MediaTypeImageIndex + `","layers":[]}`), ReasonContentInvalid},
	"an index that says it is a manifest":  {text(`{"schemaVersion":2,"mediaType":"` + ocispec.MediaTypeImageManifest + `","manifests":[]}`), ReasonContentInvalid},
	"an index without entries":             {text(`{"schemaVersion":2,"manifests":[]}`), ReasonContentInvalid},
	"a manifest over the limit":            {text(strings.Repeat(" ", maxManifest+1)), ReasonContentTooLarge},
	"an index whose entry is a path":       {text(`{"schemaVersion":2,"manifests":[{"digest":"sha256:../x"}]}`), ReasonContentInvalid},
	"an index whose entry has no digest":   {text(`{"schemaVersion":2,"manifests":[{}]}`), ReasonContentInvalid},
	"an index whose entry is missing":      {text(`{"schemaVersion":2,"manifests":[{"digest":"` + zeros + `"}]}`), ReasonContentNotFound},
	"an index with nothing but signatures": {text(`{"schemaVersion":2,"manifests":[{"platform":{"os":"unknown","architecture":"unknown"}}]}`), ReasonContentInvalid},
	"an index of an index": {func(t testing.TB, on *registryStub) {
		on.index(t, on.index(t, on.manifest(t, on.layer(archive(t, entry{name: "a"})))))
	}, ReasonContentInvalid},
	"an index that is wrong about a size": {func(t testing.TB, on *registryStub) {
		entry := on.manifest(t, on.layer(archive(t, entry{name: "a"})))
		entry.Size++
		on.index(t, entry)
	}, ReasonDigestMismatch},
	"a manifest with other bytes": {func(t testing.TB, on *registryStub) {
		right := on.manifest(t, on.layer(archive(t, entry{name: "a"})))
		wrong := on.manifest(t, on.layer(archive(t, entry{name: "evil"})))
		on.tags["v1"] = right.Digest.String()
		on.manifests[right.Digest.String()] = on.manifests[wrong.Digest.String()]
	}, ReasonDigestMismatch},
	"a layer in the place of a manifest": {func(t testing.TB, on *registryStub) {
		layer := on.layer(archive(t, entry{name: "a"}))
		on.putText(on.blobs[layer.Digest.String()])
	}, ReasonContentInvalid},
}

func whiteout(odd entry) func(testing.TB, *registryStub) {
	return func(t testing.TB, on *registryStub) {
		on.manifest(t, on.layer(archive(t, entry{name: "a/b"}, entry{name: "c"})), on.layer(archive(t, odd)))
	}
}

func text(manifest string) func(testing.TB, *registryStub) {
	return func(_ testing.TB, on *registryStub) { on.putText(manifest) }
}

func TestMaliciousImagesAreRefused(t *testing.T) {
	if len(maliciousImages) < 50 {
		t.Fatalf("%d images, want 50 and more", len(maliciousImages))
	}
	for name, test := range maliciousImages {
		t.Run(name, func(t *testing.T) {
			on := newShelf()
			source, host, _ := serve(t, on)
			source.Store.Limits = smallLimits
			test.make(t, on)
			for _, when := range []string{"at first", "again", "after a crash"} {
				if when == "after a crash" {
					for _, data := range on.blobs {
						source = crashed(t, source, data)
					}
				}
				if got, err := fetchImage(t, source, host); ReasonOf(err) != test.reason || got != nil || len(err.Error()) > 900 {
					t.Errorf("%s: tree %v, error %v with reason %q, want %q", when, got != nil, err, ReasonOf(err), test.reason)
				}
			}
			onlyVerified(t, source.Store)
		})
	}
}

// A registry that ends in the middle, or never, is no different from one that is not there.
func TestAnswersThatBreakOff(t *testing.T) {
	on := newShelf()
	broken := true
	source, host, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken && r.Method == http.MethodGet {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("{"))
			return
		}
		on.ServeHTTP(w, r)
	}))
	on.manifest(t, on.layer(archive(t, entry{name: "a"})))
	if _, err := fetchImage(t, source, host); ReasonOf(err) != ReasonRegistryUnreachable {
		t.Errorf("error %v with reason %q", err, ReasonOf(err))
	}
	if left := files(t, source.Store); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	broken = false
	if _, err := fetchImage(t, source, host); err != nil {
		t.Errorf("later: %v", err)
	}
}

// Whether it tells its length or not, and wherever it comes from, a manifest that is none for its size is not read.
func TestManifestsOverTheLimit(t *testing.T) {
	large := strings.Repeat(" ", maxManifest+1)
	chunked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, large)
	})
	for name, test := range map[string]struct {
		image  string
		stored string
	}{
		"without a length, by digest":       {"@" + digestOf(large), ""},
		"without a length, by tag":          {":v1", ""},
		"a stored layer, called a manifest": {"@" + digestOf(large), large},
	} {
		t.Run(name, func(t *testing.T) {
			oci, host, _ := serve(t, chunked)
			if test.stored != "" {
				put(t, oci.Store, test.stored)
			}
			source := &ImageSource{OCI: oci, Image: host + "/" + testImage + test.image}
			resolved, err := source.Resolve(t.Context())
			if err == nil {
				_, err = source.Fetch(t.Context(), resolved)
			}
			if ReasonOf(err) != ReasonContentTooLarge {
				t.Errorf("error %v with reason %q", err, ReasonOf(err))
			}
			if left := files(t, oci.Store); test.stored == "" && len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
