package descriptor

import (
	"archive/tar"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

func descriptorTar(data []byte) []byte {
	return pack(tar.Header{Name: fileName, Typeflag: tar.TypeReg, Linkname: string(data)})
}

func TestGetReadsEveryMediaTypeThatOCMEverWrote(t *testing.T) {
	host := start(t)
	data := golden(t, "v2.yaml")
	for _, config := range configMediaTypes {
		for _, layer := range append(tarMediaTypes, plainMediaTypes...) {
			t.Run(config+" "+layer, func(t *testing.T) {
				put := artifact{configMediaType: config, layerMediaType: layer, layer: data}
				if strings.HasSuffix(layer, "+tar") {
					put.layer = descriptorTar(data)
				}
				put.put(t, host)
				got, err := plain(host).Get(t.Context(), harbourName, harbourVersion)
				if err != nil {
					t.Fatal(err)
				}
				want := harbour(SchemaV2)
				want.Repository, want.RepositoryName = host+"/component-descriptors", harbourName
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Component{}, "Digest"), cmpopts.IgnoreUnexported(Component{})); diff != "" {
					t.Errorf("read differently (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestGetFindsComponentsWhereTheMappingPutsThem(t *testing.T) {
	host := start(t)
	sum := digest.FromString(harbourName).Encoded()
	put := artifact{layer: descriptorTar(golden(t, "v3alpha1.yaml"))}
	for name, test := range map[string]struct {
		sub, path        string
		mapping          Mapping
		repository, rest string
	}{
		"at the top":                 {"", harbourPath, URLPath, host + "/component-descriptors", harbourName},
		"below a sub path":           {"prod/eu", "prod/eu/" + harbourPath, "", host + "/prod/eu/component-descriptors", harbourName},
		"hashed":                     {"", sum, SHA256, host, sum},
		"hashed, and below sub path": {"/prod/", "prod/" + sum, SHA256, host + "/prod", sum},
	} {
		t.Run(name, func(t *testing.T) {
			put.path = test.path
			put.put(t, host)
			reader := plain(host)
			reader.SubPath, reader.Mapping = test.sub, test.mapping
			got, err := reader.Get(t.Context(), harbourName, harbourVersion)
			if err != nil {
				t.Fatal(err)
			}
			if got.Repository != test.repository || got.RepositoryName != test.rest {
				t.Errorf("repository %s and %s, want %s and %s", got.Repository, got.RepositoryName, test.repository, test.rest)
			}
			again, err := reader.GetDigest(t.Context(), harbourName, harbourVersion)
			if err != nil || again != got.Digest || !strings.HasPrefix(again, "sha256:") {
				t.Errorf("digest %s by HEAD (error %v), %s by GET", again, err, got.Digest)
			}
		})
	}
}

func TestGetTakesMediaTypesFromTheManifestWhenTheDescriptorHasNone(t *testing.T) {
	host := start(t)
	artifact{
		path: "component-descriptors/example.org/module/lighthouse", tag: "v0.9.0-rc.1.build-build.7",
		layer: golden(t, "legacy.json"), layerMediaType: plainMediaTypes[3],
		layers: []ocispec.Descriptor{
			{MediaType: "application/yaml", Digest: twos, Size: 1}, {MediaType: "application/x-tar", Digest: threes, Size: 1},
		},
	}.put(t, host)
	got, err := plain(host).Get(t.Context(), "example.org/module/lighthouse", "v0.9.0-rc.1+build.7")
	if err != nil {
		t.Fatal(err)
	}
	layer, mediaType, dir, err := got.Layer("raw-manifest")
	if err != nil || layer != threes || mediaType != "application/x-tar" || !dir {
		t.Errorf("layer %s of type %q, directory %v, error %v", layer, mediaType, dir, err)
	}
}

func TestGetMakesThreeRequestsAndGetDigestOne(t *testing.T) {
	var requests atomic.Int64
	host := start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			next.ServeHTTP(w, r)
		})
	})
	artifact{layer: descriptorTar(golden(t, "v2.yaml"))}.put(t, host)
	requests.Store(0)
	if _, err := plain(host).Get(t.Context(), harbourName, harbourVersion); err != nil || requests.Load() != 3 {
		t.Errorf("%d requests, error %v, want 3", requests.Load(), err)
	}
	requests.Store(0)
	if _, err := plain(host).GetDigest(t.Context(), harbourName, harbourVersion); err != nil || requests.Load() != 1 {
		t.Errorf("%d requests, error %v, want 1", requests.Load(), err)
	}
}

func TestReader_ACancelledCallerLearnsNothingAboutTheRegistry(t *testing.T) {
	host := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := plain(host).Get(ctx, harbourName, harbourVersion)
	if err == nil || ReasonOf(err) != "" || ctx.Err() == nil {
		t.Errorf("error %v with reason %q, want one without", err, ReasonOf(err))
	}
}

func TestReader_AReaderThatPointsNowhereSaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		reader          Reader
		reason, message string
	}{
		"a scheme before the host is refused":   {Reader{Registry: "http://h"}, ReasonUnreachable, "host[:port] without scheme"},
		"an empty host is refused":              {Reader{}, ReasonUnreachable, "host[:port]"},
		"a sub path in upper case is refused":   {Reader{Registry: "h", SubPath: "Prod"}, ReasonInvalid, "no valid place in a registry"},
		"an unknown name mapping is refused":    {Reader{Registry: "h", Mapping: "md5"}, ReasonInvalid, `"md5"`},
		"a sub path that climbs out is refused": {Reader{Registry: "h", SubPath: "../.."}, ReasonInvalid, "no valid place"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.reader.Get(t.Context(), harbourName, harbourVersion)
			_, other := test.reader.GetDigest(t.Context(), harbourName, harbourVersion)
			for _, err := range []error{err, other} {
				if ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.message) {
					t.Errorf("error %v with reason %q, want %q and %q", err, ReasonOf(err), test.reason, test.message)
				}
			}
		})
	}
}
