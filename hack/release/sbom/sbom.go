// Package sbom answers: what is in the files of a release? It writes an SPDX document that names, for each file, the Go modules that are
// linked into its programs, as these record them, and the npm packages of the front end.
//
// It concludes no licences: what an npm package declares is told as such, and of Go modules nothing is claimed.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

const (
	// documentID is the one that SPDX prescribes for a document.
	documentID = "DOCUMENT"
	// unknown is how SPDX says that nothing is claimed.
	unknown = "NOASSERTION"
	// namespaces is below what SPDX suggests for documents that are not published at an address of their own.
	namespaces = "https://spdx.org/spdxdocs/"
)

// File is a file of a release.
type File struct {
	Name, SHA256 string
	// Programs are what it has of programs, FrontEnd the npm packages in these.
	Programs []*debug.BuildInfo
	FrontEnd []NPMPackage
}

// Release is what a document describes.
type Release struct {
	Name, Version string
	Created       time.Time
	Files         []File
}

// Document returns the SPDX document of a release, as JSON. The same release gives the same bytes.
func (r Release) Document() ([]byte, error) {
	d := &document{parts: map[common.ElementID]*spdx.Package{}}
	for _, file := range r.Files {
		d.describe(file, r.Version)
	}
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: documentID,
		DocumentName: r.Name + "-" + r.Version, DocumentNamespace: r.namespace(),
		CreationInfo: &spdx.CreationInfo{
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: r.Name + "-hack-release"}},
			Created:  r.Created.UTC().Format(time.RFC3339),
		},
		Packages: d.packages(), Relationships: d.relationships,
	}
	var text bytes.Buffer
	if err := spdxjson.Write(doc, &text, spdxjson.Indent("  "), spdxjson.EscapeHTML(false)); err != nil {
		return nil, fmt.Errorf("write the SPDX document: %w", err)
	}
	return text.Bytes(), nil
}

// namespace returns an identifier that no other document has: another content has another one.
func (r Release) namespace() string {
	sum := sha256.New()
	for _, file := range r.Files {
		fmt.Fprintln(sum, file.SHA256, file.Name)
	}
	return namespaces + r.Name + "-" + r.Version + "-" + hex.EncodeToString(sum.Sum(nil))
}

// document collects what is said once: a module that is in several programs is one package.
type document struct {
	files         []*spdx.Package
	parts         map[common.ElementID]*spdx.Package
	relationships []*spdx.Relationship
}

func (d *document) describe(file File, version string) {
	described := &spdx.Package{
		PackageName: file.Name, PackageSPDXIdentifier: identifier("File", file.Name, file.SHA256), PackageVersion: version,
		PackageFileName: file.Name, PackageDownloadLocation: unknown,
		PackageChecksums:        []spdx.Checksum{{Algorithm: common.SHA256, Value: file.SHA256}},
		PackageLicenseConcluded: unknown, PackageLicenseDeclared: unknown, PackageCopyrightText: unknown,
	}
	d.files = append(d.files, described)
	d.relate(documentID, common.TypeRelationshipDescribe, described.PackageSPDXIdentifier)
	var contained []common.ElementID
	for _, program := range file.Programs {
		contained = append(contained, d.add(standardLibrary(program.GoVersion)))
		for _, module := range program.Deps {
			contained = append(contained, d.add(goModule(module)))
		}
	}
	for _, part := range file.FrontEnd {
		contained = append(contained, d.add(part.describe()))
	}
	slices.Sort(contained)
	for _, part := range slices.Compact(contained) {
		d.relate(described.PackageSPDXIdentifier, common.TypeRelationshipContains, part)
	}
}

func (d *document) add(part *spdx.Package) common.ElementID {
	d.parts[part.PackageSPDXIdentifier] = part
	return part.PackageSPDXIdentifier
}

func (d *document) relate(from common.ElementID, how string, to common.ElementID) {
	d.relationships = append(d.relationships, &spdx.Relationship{
		RefA: common.DocElementID{ElementRefID: from}, Relationship: how, RefB: common.DocElementID{ElementRefID: to},
	})
}

// packages returns the files in their order, and then what is in them, sorted.
func (d *document) packages() []*spdx.Package {
	all := slices.Clone(d.files)
	for _, part := range d.parts {
		all = append(all, part)
	}
	slices.SortFunc(all[len(d.files):], func(a, b *spdx.Package) int {
		return strings.Compare(string(a.PackageSPDXIdentifier), string(b.PackageSPDXIdentifier))
	})
	return all
}

// goModule describes a module that is linked into a program: that which replaces it, if there is one.
func goModule(module *debug.Module) *spdx.Package {
	if module.Replace != nil {
		module = module.Replace
	}
	part := library("Go", module.Path, module.Version, "pkg:golang/"+module.Path+"@"+module.Version)
	if module.Sum != "" {
		part.PackageSourceInfo = "go.sum: " + module.Sum
	}
	part.PackageLicenseDeclared = unknown
	return part
}

// standardLibrary describes the library of the Go toolchain, under the name that the Go vulnerability database has for it.
func standardLibrary(goVersion string) *spdx.Package {
	version, _, _ := strings.Cut(strings.TrimPrefix(goVersion, "go"), " ")
	part := library("Go", "stdlib", version, "pkg:golang/stdlib@"+version)
	part.PackageLicenseDeclared = "BSD-3-Clause"
	return part
}

// library describes what a program is made of; purl is its package URL.
func library(kind, name, version, purl string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageSPDXIdentifier: identifier(kind, name, version), PackageVersion: version,
		PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageCopyrightText: unknown,
		PrimaryPackagePurpose: "LIBRARY",
		PackageExternalReferences: []*spdx.PackageExternalReference{
			{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl},
		},
	}
}

// refused are the characters that an SPDX identifier must not have.
var refused = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// identifier returns an identifier that a reader recognises. Its hash differs for names that differ only by characters that SPDX refuses.
func identifier(kind, name, version string) common.ElementID {
	sum := sha256.Sum256([]byte(name + "@" + version))
	return common.ElementID(kind + "-" + refused.ReplaceAllString(strings.TrimLeft(name, "@"), "-") + "-" + hex.EncodeToString(sum[:4]))
}
