package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	intoto "github.com/in-toto/attestation/go/v1"
	spdxjson "github.com/spdx/tools-golang/json"
	"google.golang.org/protobuf/encoding/protojson"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/hack/release/signing"
)

var released = []string{
	"SHA256SUMS", "install.yaml", "kyma-cli_1.2.3_image.tar", "kyma-krew.yaml", "kyma_1.2.3_completions.tar.gz", "kyma_1.2.3_darwin_arm64.tar.gz",
	"kyma_1.2.3_linux_amd64.tar.gz", "kyma_1.2.3_linux_arm64.tar.gz", "kyma_1.2.3_man.tar.gz", "kyma_1.2.3_windows_amd64.zip",
	"lifecycle-manager-1.2.3.tgz", "lifecycle-manager_1.2.3_image.tar", "provenance.intoto.json", "sbom.spdx.json",
}

func TestBuild_GivesTheSameBytesTwice(t *testing.T) {
	one := made(t, prepared(t, checkout(t, time.Unix(1_000_000_000, 0))))
	two := made(t, prepared(t, checkout(t, time.Unix(1_700_000_000, 0))))
	if diff := cmp.Diff(released, slices.Sorted(maps.Keys(one))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, data := range one {
		if !bytes.Equal(data, two[name]) {
			t.Errorf("%s differs from one build to the next", name)
		}
	}
	if len(one) != len(two) {
		t.Errorf("%d files, and then %d", len(one), len(two))
	}
}

func TestBuild_SumsCoverEveryFile(t *testing.T) {
	files := made(t, prepared(t, checkout(t, time.Now())))
	var want strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != sumsFile {
			fmt.Fprintf(&want, "%s  %s\n", sumOf(files[name]), name)
		}
	}
	if diff := cmp.Diff(want.String(), string(files[sumsFile])); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
}

func TestBuild_ProvenanceCoversFilesAndImages(t *testing.T) {
	files := made(t, prepared(t, checkout(t, time.Now())))
	statement := &intoto.Statement{}
	if err := protojson.Unmarshal(files[provenanceFile], statement); err != nil {
		t.Fatal(err)
	}
	if err := statement.Validate(); err != nil {
		t.Error(err)
	}
	got := map[string]string{}
	for _, subject := range statement.GetSubject() {
		got[subject.GetName()] = subject.GetDigest()["sha256"]
	}
	for _, image := range []string{"lifecycle-manager:1.2.3", "kyma-cli:1.2.3"} {
		if len(got[image]) != 64 {
			t.Errorf("image %s has the digest %q", image, got[image])
		}
		delete(got, image)
	}
	want := map[string]string{}
	for name, data := range files {
		if name != sumsFile && name != provenanceFile {
			want[name] = sumOf(data)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	if !bytes.Contains(files[provenanceFile], []byte(`"gitCommit": "`+testCommit+`"`)) {
		t.Error("the provenance does not name the commit")
	}
}

func TestBuild_SBOMNamesWhatIsInPrograms(t *testing.T) {
	files := made(t, prepared(t, checkout(t, time.Now())))
	doc, err := spdxjson.Read(bytes.NewReader(files[sbomFile]))
	if err != nil {
		t.Fatal(err)
	}
	contains := map[string]int{}
	names := map[string]string{}
	for _, part := range doc.Packages {
		names[string(part.PackageSPDXIdentifier)] = part.PackageName
	}
	for _, r := range doc.Relationships {
		if r.Relationship == "CONTAINS" {
			contains[names[string(r.RefA.ElementRefID)]]++
		}
	}
	want := map[string]int{ // library, standard library and, in kyma, the front end
		"kyma_1.2.3_linux_amd64.tar.gz": 3, "kyma_1.2.3_linux_arm64.tar.gz": 3, "kyma_1.2.3_darwin_arm64.tar.gz": 3,
		"kyma_1.2.3_windows_amd64.zip": 3, "kyma-cli_1.2.3_image.tar": 3, "lifecycle-manager_1.2.3_image.tar": 2,
	}
	if diff := cmp.Diff(want, contains); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestBuild_PluginNamesTheArchives(t *testing.T) {
	for name, tc := range map[string]struct{ download, prefix string }{
		"without an address, by their names": {"", ""},
		"below an address":                   {"https://example.com/v1.2.3/", "https://example.com/v1.2.3/"},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, checkout(t, time.Now()))
			r.download = tc.download
			files := made(t, r)
			var manifest plugin
			if err := yaml.UnmarshalStrict(files[pluginFile], &manifest); err != nil {
				t.Fatal(err)
			}
			if len(manifest.Spec.Platforms) != 4 || manifest.Spec.Version != "v1.2.3" {
				t.Fatalf("%d platforms of version %s", len(manifest.Spec.Platforms), manifest.Spec.Version)
			}
			for _, p := range manifest.Spec.Platforms {
				file, ok := strings.CutPrefix(p.URI, tc.prefix)
				if !ok || p.SHA256 != sumOf(files[file]) {
					t.Errorf("%s has the sum %s, and %d bytes", p.URI, p.SHA256, len(files[file]))
				}
			}
			windows := manifest.Spec.Platforms[3]
			if windows.Bin != "kyma.exe" || windows.Selector["matchLabels"]["os"] != "windows" {
				t.Errorf("the program for windows is %s, for %v", windows.Bin, windows.Selector)
			}
		})
	}
}

func TestBuild_IsSignedByTheKey(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signing.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	r := prepared(t, checkout(t, time.Now()))
	r.signer = &key
	files := made(t, r)
	if !ed25519.Verify(public, files[sumsFile], files[signatureFile]) {
		t.Error("the sums are not signed by the key")
	}
	unsigned := prepared(t, checkout(t, time.Now()))
	if _, ok := made(t, unsigned)[signatureFile]; ok || !strings.Contains(fmt.Sprint(unsigned.log), "the release is not signed") {
		t.Errorf("a release without a key says %q", unsigned.log)
	}
}

func TestBuild_WithoutAChart(t *testing.T) {
	root := checkout(t, time.Now())
	if err := os.RemoveAll(filepath.Join(root, "charts")); err != nil {
		t.Fatal(err)
	}
	r := prepared(t, root)
	if _, ok := made(t, r)["lifecycle-manager-1.2.3.tgz"]; ok || !strings.Contains(fmt.Sprint(r.log), "the release has no chart") {
		t.Errorf("it says %q", r.log)
	}
}

func TestBuild_ReplacesOnlyARelease(t *testing.T) {
	root := checkout(t, time.Now())
	r := prepared(t, root)
	made(t, r)
	again := prepared(t, root)
	again.out = r.out
	if err := os.WriteFile(filepath.Join(r.out, "kyma_1.2.2_linux_amd64.tar.gz"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files := made(t, again); len(files) != len(released) {
		t.Errorf("a second release in the same folder has %d files, want %d", len(files), len(released))
	}
	other := prepared(t, root)
	other.out = t.TempDir()
	if err := os.WriteFile(filepath.Join(other.out, "thesis.txt"), []byte("work of years"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := other.build(t.Context()); err == nil || !strings.Contains(err.Error(), "no earlier release") {
		t.Errorf("a folder with other files: %v", err)
	}
	if _, err := os.Stat(filepath.Join(other.out, "thesis.txt")); err != nil {
		t.Errorf("the files are gone: %v", err)
	}
}
