package sbom

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdxlib"
)

const lock = `{"lockfileVersion": 3, "packages": {
	"": {"name": "front", "version": "0.0.0"},
	"node_modules/react": {"version": "19.3.1", "license": "MIT", "integrity": "sha512-AAEC"},
	"node_modules/@codemirror/view": {"version": "6.43.15", "license": "MIT"},
	"node_modules/a/node_modules/tslib": {"version": "2.9.1"},
	"node_modules/b/node_modules/tslib": {"version": "2.9.1"},
	"node_modules/vite": {"version": "8.3.8", "dev": true},
	"node_modules/fsevents": {"version": "2.3.3", "devOptional": true}
}}`

func program(modules ...*debug.Module) *debug.BuildInfo {
	return &debug.BuildInfo{GoVersion: "go1.26.8 X:nodwarf5", Deps: modules}
}

func release(t *testing.T) Release {
	t.Helper()
	front, err := ReadLock([]byte(lock))
	if err != nil {
		t.Fatal(err)
	}
	oras := &debug.Module{Path: "oras.land/oras-go/v2", Version: "v2.6.4", Sum: "h1:abc="}
	forked := &debug.Module{
		Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1"},
	}
	return Release{
		Name: "lifecycle-manager", Version: "1.2.3", Created: time.Date(2026, 11, 28, 7, 11, 3, 0, time.UTC),
		Files: []File{
			{Name: "kyma_1.2.3_linux_amd64.tar.gz", SHA256: strings.Repeat("a", 64), Programs: []*debug.BuildInfo{program(oras, forked)}, FrontEnd: front},
			{Name: "lifecycle-manager_1.2.3_image.tar", SHA256: strings.Repeat("b", 64), Programs: []*debug.BuildInfo{program(oras), program(oras)}},
			{Name: "install.yaml", SHA256: strings.Repeat("c", 64)},
		},
	}
}

// contents returns what each file contains, by the names and versions of the parts.
func contents(doc *spdx.Document) map[string][]string {
	names := map[common.ElementID]string{}
	for _, part := range doc.Packages {
		names[part.PackageSPDXIdentifier] = part.PackageName
		if part.PackageFileName == "" {
			names[part.PackageSPDXIdentifier] += " " + part.PackageVersion
		}
	}
	found := map[string][]string{}
	for _, r := range doc.Relationships {
		switch r.Relationship {
		case common.TypeRelationshipDescribe:
			found[names[r.RefB.ElementRefID]] = nil
		case common.TypeRelationshipContains:
			file := names[r.RefA.ElementRefID]
			found[file] = append(found[file], names[r.RefB.ElementRefID])
		}
	}
	return found
}

func TestDocument_IsReadByTheLibrary(t *testing.T) {
	text, err := release(t).Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spdxjson.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("the library cannot read it: %v", err)
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		t.Errorf("the document is not valid: %v", err)
	}
	want := map[string][]string{
		"kyma_1.2.3_linux_amd64.tar.gz": {
			"example.com/fork v1.0.1", "oras.land/oras-go/v2 v2.6.4", "stdlib 1.26.8",
			"@codemirror/view 6.43.15", "react 19.3.1", "tslib 2.9.1",
		},
		"lifecycle-manager_1.2.3_image.tar": {"oras.land/oras-go/v2 v2.6.4", "stdlib 1.26.8"},
		"install.yaml":                      nil,
	}
	if diff := cmp.Diff(want, contents(doc)); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if doc.CreationInfo.Created != "2026-11-28T07:11:03Z" || doc.DocumentName != "lifecycle-manager-1.2.3" {
		t.Errorf("%s was created at %s", doc.DocumentName, doc.CreationInfo.Created)
	}
}

func TestDocument_IdentifiesEachPart(t *testing.T) {
	text, err := release(t).Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spdxjson.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, part := range doc.Packages {
		if len(part.PackageExternalReferences) == 1 {
			got[part.PackageName] = part.PackageExternalReferences[0].Locator + " " + part.PackageLicenseDeclared
		}
		for _, sum := range part.PackageChecksums {
			if part.PackageName == "react" && (sum.Algorithm != common.SHA512 || sum.Value != "000102") {
				t.Errorf("react has the sum %s %s", sum.Algorithm, sum.Value)
			}
		}
	}
	want := map[string]string{
		"oras.land/oras-go/v2": "pkg:golang/oras.land/oras-go/v2@v2.6.4 NOASSERTION",
		"example.com/fork":     "pkg:golang/example.com/fork@v1.0.1 NOASSERTION",
		"stdlib":               "pkg:golang/stdlib@1.26.8 BSD-3-Clause",
		"react":                "pkg:npm/react@19.3.1 MIT",
		"@codemirror/view":     "pkg:npm/%40codemirror/view@6.43.15 MIT",
		"tslib":                "pkg:npm/tslib@2.9.1 NOASSERTION",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("package URLs and licences (-want +got):\n%s", diff)
	}
}

func TestDocument_IsTheSameTwiceAndAnotherForOtherFiles(t *testing.T) {
	one, err := release(t).Document()
	if err != nil {
		t.Fatal(err)
	}
	if two, err := release(t).Document(); err != nil || !bytes.Equal(one, two) {
		t.Errorf("the same release gave other bytes (%v)", err)
	}
	changed := release(t)
	changed.Files[2].SHA256 = strings.Repeat("d", 64)
	if changed.namespace() == release(t).namespace() {
		t.Error("a document about other files has the same namespace")
	}
}

func TestIdentifier_DiffersWithTheName(t *testing.T) {
	one, two := identifier("Go", "example.com/a-b", "v1"), identifier("Go", "example.com/a/b", "v1")
	if one == two {
		t.Errorf("two modules have the identifier %s", one)
	}
	if refused.MatchString(string(one)) {
		t.Errorf("%s has characters that SPDX refuses", one)
	}
}

func TestReadLock_Refuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a file that is no JSON":       {"{", "read the npm lock file"},
		"a lock file of an old npm":    {`{"lockfileVersion": 1, "dependencies": {}}`, "npm 7 or newer"},
		"a lock file without packages": {`{"lockfileVersion": 3}`, "0 packages"},
		"a sum that is not base64":     {`{"lockfileVersion": 3, "packages": {"node_modules/a": {"integrity": "sha512-%"}}}`, "node_modules/a"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadLock([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
