package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/hack/release/provenance"
	"github.com/kyma-project/lifecycle-manager/hack/release/sbom"
)

const (
	sbomFile       = "sbom.spdx.json"
	provenanceFile = "provenance.intoto.json"
	signatureFile  = sumsFile + ".sig"
)

// lockFile has the npm packages of the front end, which is built from them and committed.
var lockFile = filepath.Join("web", "package-lock.json")

// writeSBOM names what is in the files.
func (r *release) writeSBOM(context.Context) error {
	lock, err := r.read(lockFile)
	if err != nil {
		return fmt.Errorf("read the packages of the front end: %w", err)
	}
	front, err := sbom.ReadLock(lock)
	if err != nil {
		return err
	}
	contents := sbom.Release{Name: project, Version: r.version, Created: r.source.time}
	for _, f := range r.files {
		described := sbom.File{Name: f.name, SHA256: f.sum}
		for _, p := range f.programs {
			described.Programs = append(described.Programs, p.linked)
			if p.name == clientProgram {
				described.FrontEnd = front
			}
		}
		contents.Files = append(contents.Files, described)
	}
	text, err := contents.Document()
	if err != nil {
		return err
	}
	return r.add(sbomFile, text)
}

// writeProvenance says from what the files were made.
func (r *release) writeProvenance(context.Context) error {
	platforms := make([]any, len(r.targets))
	for i, target := range r.targets {
		platforms[i] = target.String()
	}
	parameters := map[string]any{"version": r.version, "platforms": platforms, "images": r.images, "download": r.download}
	if r.registry != "" { // younger than the others: without it, the statement is the same as before
		parameters["registry"] = r.registry
	}
	build := provenance.Build{
		Parameters: parameters,
		Toolchain:  map[string]any{"go": r.programs[0].linked.GoVersion, "flags": buildFlags},
		Inputs:     []provenance.Resource{{Name: "source", Algorithm: "gitCommit", Digest: r.source.commit}},
		Builder:    r.builder,
	}
	for _, name := range []string{"go.mod", "go.sum", lockFile} {
		data, err := r.read(name)
		if err != nil {
			return fmt.Errorf("read what the build depends on: %w", err)
		}
		build.Inputs = append(build.Inputs, provenance.Resource{Name: filepath.ToSlash(name), Algorithm: "sha256", Digest: sumOf(data)})
	}
	build.Inputs = append(build.Inputs, provenance.Resource{Name: "CA certificates", Algorithm: "sha256", Digest: sumOf(r.trusted)})
	for _, f := range r.files {
		build.Outputs = append(build.Outputs, provenance.Resource{Name: f.name, Algorithm: "sha256", Digest: f.sum})
	}
	build.Outputs = append(build.Outputs, r.indexes...)
	text, err := build.Statement()
	if err != nil {
		return err
	}
	return r.add(provenanceFile, text)
}

// writeSums writes the sums of all files, as sha256sum checks them, and signs them where there is a key.
func (r *release) writeSums(context.Context) error {
	slices.SortFunc(r.files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var text strings.Builder
	for _, f := range r.files {
		fmt.Fprintf(&text, "%s  %s\n", f.sum, f.name)
	}
	if err := r.write(sumsFile, []byte(text.String())); err != nil {
		return err
	}
	if r.signer == nil {
		r.sayf("There is no key (KEY): the release is not signed.")
		return nil
	}
	signature, err := r.signer.Sign([]byte(text.String()))
	if err != nil {
		return err
	}
	r.sayf("Verify it by: %s", r.signer.Verification(sumsFile, signatureFile))
	return r.write(signatureFile, signature)
}
