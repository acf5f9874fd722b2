package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/kyma-project/lifecycle-manager/hack/release/provenance"
	"github.com/kyma-project/lifecycle-manager/hack/release/signing"
)

// project is the name of what is released, of the manager's image and of its chart.
const project = "lifecycle-manager"

// sumsFile has the sums of all other files. A folder that has it is a release.
const sumsFile = "SHA256SUMS"

// release is a release that is being made.
type release struct {
	options
	targets []platform
	source  source
	tools   toolchain
	signer  *signing.Key
	log     io.Writer

	// work is for what is no part of the release, and stage is the release until it is complete.
	work, stage string
	programs    []program
	files       []file
	// indexes are the images, each an index of one for each architecture.
	indexes []provenance.Resource
	// trusted are the CA certificates in the images.
	trusted []byte
}

// program is a program for one platform.
type program struct {
	name   string
	target platform
	path   string
	linked *debug.BuildInfo
}

// file is a file of the release, with the programs in it.
type file struct {
	name, sum string
	programs  []program
}

// build makes the release beside its place and moves it there when it is complete.
func (r *release) build(ctx context.Context) error {
	if err := checkOut(r.out); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(r.out))
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(parent, ".release-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // hidden, and no part of the release
	r.work, r.stage = filepath.Join(scratch, "work"), filepath.Join(scratch, "release")
	for _, dir := range []string{r.work, r.stage} {
		if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // a release is for all users
			return err
		}
	}
	for _, step := range []func(context.Context) error{
		r.compile, r.packPrograms, r.packDocuments, r.packImages, r.writeInstallation, r.packChart, r.writePlugin,
		r.writeSBOM, r.writeProvenance, r.writeSums,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(r.out), os.Rename(r.stage, r.out)); err != nil {
		return fmt.Errorf("move the release to its place: %w", err)
	}
	r.sayf("%s %s, commit %s: %d files in %s", project, r.version, r.source.commit, len(r.files), r.out)
	return nil
}

// checkOut refuses a folder that holds anything but a release: it will be replaced.
func checkOut(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("look into the folder for the release: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, sumsFile)); err != nil {
		return fmt.Errorf("%s is not empty and no earlier release, which would be replaced: name another folder by OUT", dir)
	}
	return nil
}

// add writes a file of the release.
func (r *release) add(name string, data []byte, programs ...program) error {
	if err := r.write(name, data); err != nil {
		return err
	}
	r.files = append(r.files, file{name, sumOf(data), programs})
	return nil
}

func (r *release) write(name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(r.stage, name), data, 0o644); err != nil { //nolint:gosec // a release is for all users
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// read reads a file of the checkout.
func (r *release) read(elements ...string) ([]byte, error) {
	return os.ReadFile(filepath.Join(append([]string{r.root}, elements...)...))
}

func (r *release) sayf(format string, args ...any) { fmt.Fprintf(r.log, format+"\n", args...) }

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
