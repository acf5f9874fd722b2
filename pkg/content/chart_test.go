package content

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const testChart = "charts/sample"

// pushChart publishes a chart as helm push does, with its provenance file.
func pushChart(t testing.TB, host, version string) ocispec.Descriptor {
	t.Helper()
	packed := zip(t, archive(t, entry{name: "sample/Chart.yaml", data: "version: " + version}, entry{name: "sample/templates/a.yaml"}))
	return pushImage(t, host, testChart, tagOf(version),
		pushLayer(t, host, testChart, "application/vnd.cncf.helm.chart.provenance.v1.prov", "signed "+version),
		pushLayer(t, host, testChart, mediaTypeChart, packed))
}

func TestChartIsFetchedInTheVersionThatIsAskedFor(t *testing.T) {
	oci, host, counter := serve(t, newRegistry())
	digests := map[string]string{}
	for _, version := range []string{"1.2.3", "1.4.0", "1.10.0+build.7", "2.0.0-rc.1", "v0.9.0"} {
		digests[version] = pushChart(t, host, version).Digest.String()
	}
	pushImage(t, host, testChart, "latest")
	pushImage(t, host, testChart, "3")
	for name, test := range map[string]struct {
		ask, want string
		requests  int64
	}{
		"an exact version takes one request": {"1.2.3", "1.2.3", 1},
		"a version with build metadata":      {"1.10.0+build.7", "1.10.0+build.7", 1},
		"a prerelease by its name":           {"2.0.0-rc.1", "2.0.0-rc.1", 1},
		"a version that begins with v":       {"v0.9.0", "v0.9.0", 1},
		"nothing is the newest stable":       {"", "1.10.0+build.7", 2},
		"a range of minor versions":          {"~1.2", "1.2.3", 2},
		"a range of major versions":          {"^1", "1.10.0+build.7", 2},
		"a version that is not complete":     {"1.4", "1.4.0", 2},
		"a range that names a prerelease":    {">=2.0.0-0", "2.0.0-rc.1", 2},
		"a range with two ends":              {">=1.2.3, <1.10", "1.4.0", 2},
		"a range with a choice":              {"0.9.x || >9", "v0.9.0", 2},
	} {
		t.Run(name, func(t *testing.T) {
			source := &ChartSource{OCI: oci, Repository: host + "/" + testChart, Version: test.ask}
			counter.requests.Store(0)
			resolved, err := source.Resolve(t.Context())
			want := Resolved{Digest: digests[test.want], Version: test.want, MediaType: ocispec.MediaTypeImageManifest}
			if diff := cmp.Diff(want, resolved); diff != "" || err != nil || counter.requests.Load() != test.requests {
				t.Fatalf("error %v after %d requests, resolved (-want +got):\n%s", err, counter.requests.Load(), diff)
			}
			got, err := source.Fetch(t.Context(), resolved)
			files := tree("sample/Chart.yaml", "version: "+test.want, "sample/templates/a.yaml", "")
			if diff := cmp.Diff(files, got); diff != "" || err != nil {
				t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
			}
			if !strings.HasPrefix(source.Reference(), source.Repository+" ") {
				t.Errorf("reference %s", source.Reference())
			}
		})
	}
}

func TestChartVersionsThatAreNotThere(t *testing.T) {
	oci, host, _ := serve(t, newRegistry())
	pushChart(t, host, "1.2.3")
	pushChart(t, host, "2.0.0-rc.1")
	for name, test := range map[string]struct{ repository, version, reason, want string }{
		"an exact version":            {testChart, "1.2.4", ReasonContentNotFound, "1.2.4"},
		"a range":                     {testChart, ">=3", ReasonContentNotFound, `none of its 2 versions fits`},
		"a range without prereleases": {testChart, ">=2", ReasonContentNotFound, "prereleases are taken only when"},
		"a chart":                     {"charts/other", "1.2.3", ReasonContentNotFound, "charts/other"},
		"a chart by range":            {"charts/other", "", ReasonContentNotFound, "charts/other"},
		"something that is no range":  {testChart, "newest please", ReasonSourceInvalid, `"newest please" is neither a version nor a range`},
		"a range that is too long":    {testChart, ">=1" + strings.Repeat(" || >=1", 100), ReasonSourceInvalid, "neither a version nor a range"},
		"a repository with a tag":     {testChart + ":1.2.3", "1.2.3", ReasonSourceInvalid, "without tag, digest or login"},
		"a repository with a digest":  {testChart + "@" + zeros, "", ReasonSourceInvalid, "without tag, digest or login"},
		"a repository in capitals":    {"Charts", "", ReasonSourceInvalid, "which no registry can have"},
	} {
		t.Run(name, func(t *testing.T) {
			source := &ChartSource{OCI: oci, Repository: host + "/" + test.repository, Version: test.version}
			got, err := source.Resolve(t.Context())
			if ReasonOf(err) != test.reason || !strings.Contains(fmt.Sprint(err), test.want) || got != (Resolved{}) {
				t.Errorf("resolved %v, error %v with reason %q, want %q", got, err, ReasonOf(err), test.reason)
			}
		})
	}
	for _, repository := range []string{"oci://" + host + "/" + testChart, "me:secret@" + host + "/" + testChart} {
		source := &ChartSource{OCI: oci, Repository: repository}
		_, err := source.Fetch(t.Context(), Resolved{Digest: zeros})
		if ReasonOf(err) != ReasonSourceInvalid || strings.Contains(err.Error()+source.Reference(), "secret") {
			t.Errorf("%s: error %v", repository, err)
		}
	}
}

func TestChart_WhatIsNoChart(t *testing.T) {
	packed := zip(t, archive(t, entry{name: "sample/Chart.yaml"}))
	for name, test := range map[string]struct {
		layers []string // media types
		data   string
		reason string
	}{
		"an image":                    {[]string{tarGzipType}, packed, ReasonContentInvalid},
		"a chart of two charts":       {[]string{mediaTypeChart, mediaTypeChart}, packed, ReasonContentInvalid},
		"a provenance file alone":     {[]string{"application/vnd.cncf.helm.chart.provenance.v1.prov"}, packed, ReasonContentInvalid},
		"a chart that is no archive":  {[]string{mediaTypeChart}, "text", ReasonContentInvalid},
		"a chart with a link":         {[]string{mediaTypeChart}, archive(t, entry{name: "a", kind: '2', link: "b"}), ReasonArchiveRefused},
		"a chart over the limit":      {[]string{mediaTypeChart}, noise(2 << 20), ReasonContentTooLarge},
		"a chart with other bytes":    {[]string{mediaTypeChart}, "wrong", ReasonDigestMismatch},
		"a chart, to compare with it": {[]string{mediaTypeChart, "text/plain"}, packed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			on := newShelf()
			oci, host, _ := serve(t, on)
			oci.Store.Limits = smallLimits
			var layers []ocispec.Descriptor
			for _, mediaType := range test.layers {
				layer := on.layer(test.data)
				if test.data == "wrong" {
					on.blobs[layer.Digest.String()] = "other"
				}
				layer.MediaType = mediaType
				layers = append(layers, layer)
			}
			source := &ChartSource{OCI: oci, Repository: host + "/" + testImage}
			_, err := source.Fetch(t.Context(), Resolved{Digest: on.manifest(t, layers...).Digest.String()})
			if ReasonOf(err) != test.reason {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), test.reason)
			}
		})
	}
}

// Of versions that are equal but for their build metadata, the choice does not depend on the order of the list.
func TestPickVersionDoesNotDependOnOrder(t *testing.T) {
	wanted, err := parseRange("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tags := range [][]string{{"1.0.0_a", "1.0.0_b", "1.0.0"}, {"1.0.0_b", "1.0.0", "1.0.0_a"}, {"1.0.0", "latest", "1", "1.0.0_a", "1.0.0_b"}} {
		if got, err := pickVersion(tags, wanted); err != nil || got != "1.0.0+b" {
			t.Errorf("of %v it picks %q, %v", tags, got, err)
		}
	}
}

func TestLayerSource(t *testing.T) {
	oci, host, counter := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, data := range []string{"hello", archive(t, entry{name: "a", data: "1"}), "\x1f\x8b"} {
			if strings.HasSuffix(r.URL.Path, digestOf(data)) {
				_, _ = io.WriteString(w, data)
			}
		}
	}))
	for name, test := range map[string]struct {
		data    string
		archive bool
		want    *Tree
		reason  string
	}{
		"one file":                    {"hello", false, tree("", "hello"), ""},
		"an archive":                  {archive(t, entry{name: "a", data: "1"}), true, tree("a", "1"), ""},
		"a file that is no archive":   {"hello", true, nil, ReasonContentInvalid},
		"a file that is broken":       {"\x1f\x8b", false, nil, ReasonContentInvalid},
		"a layer that does not exist": {"other", false, nil, ReasonDigestMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			source := &LayerSource{OCI: oci, Ref: referenceTo(host, test.data), Archive: test.archive}
			before := counter.requests.Load()
			resolved, err := source.Resolve(t.Context())
			if err != nil || resolved != (Resolved{Digest: digestOf(test.data)}) || counter.requests.Load() != before {
				t.Errorf("resolved %v, %v", resolved, err)
			}
			got, err := source.Fetch(t.Context(), resolved)
			if diff := cmp.Diff(test.want, got); diff != "" || ReasonOf(err) != test.reason {
				t.Errorf("error %v with reason %q, tree (-want +got):\n%s", err, ReasonOf(err), diff)
			}
			if source.Reference() != source.Ref.String() {
				t.Errorf("reference %s", source.Reference())
			}
		})
	}
	if _, err := (&LayerSource{OCI: oci}).Resolve(t.Context()); ReasonOf(err) != ReasonSourceInvalid {
		t.Errorf("no reference: %v", err)
	}
}
