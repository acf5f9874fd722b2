package airgap

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/oci"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

const (
	sumsFile      = "SHA256SUMS"
	signatureFile = sumsFile + ".sig"
	installFile   = "install.yaml"
	imageSuffix   = "_image.tar"
	// ManagerImage is the name of the manager's image in a release.
	ManagerImage = "lifecycle-manager"
)

// Release is the folder of a release, as make release writes it.
type Release struct {
	Dir    string
	Images []ReleaseImage

	sums map[string]string
}

// ReleaseImage is an image of a release: an OCI layout in a tar.
type ReleaseImage struct {
	Name, Version, File string
}

// ReadRelease reads which files a release has. It does not read them: Check does.
func ReadRelease(dir string) (*Release, error) {
	text, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s, and so is no folder of a release: %w", dir, sumsFile, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the release: %w", err)
	}
	r := &Release{Dir: dir, sums: map[string]string{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		raw, err := hex.DecodeString(sum)
		if !ok || err != nil || len(raw) != sha256.Size || !filepath.IsLocal(name) || name != filepath.Base(name) || name == "." {
			return nil, fmt.Errorf("%s of %s has the line %q, which is no sum of a file in it", sumsFile, dir, lines.Text())
		}
		r.sums[name] = sum
		image, isImage := strings.CutSuffix(name, imageSuffix)
		if at := strings.LastIndexByte(image, '_'); isImage && at > 0 {
			r.Images = append(r.Images, ReleaseImage{Name: image[:at], Version: image[at+1:], File: name})
		}
	}
	slices.SortFunc(r.Images, func(a, b ReleaseImage) int { return strings.Compare(a.Name, b.Name) })
	return r, lines.Err()
}

// Check compares every file with its sum.
func (r *Release) Check(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum, err := sumOf(filepath.Join(r.Dir, name))
		if err != nil {
			return fmt.Errorf("the release lacks a file: %w", err)
		}
		if sum != r.sums[name] {
			return fmt.Errorf("%s is not what was released: its sum is %s, and %s has %s", name, sum, sumsFile, r.sums[name])
		}
	}
	return nil
}

func sumOf(file string) (string, error) {
	opened, err := os.Open(file)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, opened)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, opened.Close())
}

// StoreIn copies the files as they are, with the sums and their signature last. It reports false if all of them were there.
func (r *Release) StoreIn(ctx context.Context, dir string) (changed bool, err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return false, err
	}
	names := append(slices.Sorted(maps.Keys(r.sums)), sumsFile)
	if _, err := os.Stat(filepath.Join(r.Dir, signatureFile)); err == nil {
		names = append(names, signatureFile)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return changed, err
		}
		from, to := filepath.Join(r.Dir, name), filepath.Join(dir, name)
		wanted, err := sumOf(from)
		if err != nil {
			return changed, err
		}
		if there, err := sumOf(to); err == nil && there == wanted {
			continue
		}
		if err := copyFile(from, to); err != nil {
			return changed, fmt.Errorf("copy %s: %w", name, err)
		}
		changed = true
	}
	return changed, nil
}

// copyFile copies a file, which has its name only when it is complete.
func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	part, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, source)
	err = errors.Join(err, part.Chmod(0o644), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// Put copies an image of the release into a registry, and returns its digest there, which is the one that it was built with.
func (r *Release) Put(
	ctx context.Context, image ReleaseImage, to component.Registry, how component.CopyOptions,
) (digest string, changed bool, err error) {
	layout, err := oci.NewFromTar(ctx, filepath.Join(r.Dir, image.File))
	if err != nil {
		return "", false, fmt.Errorf("%s is no image: %w", image.File, err)
	}
	found, err := layout.Resolve(ctx, image.Version)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", image.File, err)
	}
	plain := ocispec.Descriptor{MediaType: found.MediaType, Digest: found.Digest, Size: found.Size}
	changed, err = to.PutImage(ctx, layout, plain, image.Name, image.Version, how)
	return found.Digest.String(), changed, err
}

// Installation returns the install.yaml of the release.
func (r *Release) Installation() ([]byte, error) {
	return os.ReadFile(filepath.Join(r.Dir, installFile))
}
