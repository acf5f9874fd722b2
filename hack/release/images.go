package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kyma-project/lifecycle-manager/hack/image/programimage"
	"github.com/kyma-project/lifecycle-manager/hack/release/archive"
	"github.com/kyma-project/lifecycle-manager/hack/release/provenance"
)

const (
	// clientImage is the name of the image of kyma, which runs the dashboard in a cluster.
	clientImage = "kyma-cli"
	// containerdName is the annotation by which containerd names an image that it imports.
	containerdName = "io.containerd.image.name"
)

// packImages packs each image as an OCI layout in a tar archive: an index of the image for each architecture, under the tag of the version.
func (r *release) packImages(context.Context) error {
	var err error
	if r.trusted, err = programimage.Certificates(r.certificates); err != nil {
		return err
	}
	if len(r.trusted) == 0 {
		return errors.New("this machine has no CA certificates, without which images trust no registry: name a file by CERTIFICATES")
	}
	for _, image := range []struct{ name, program string }{{project, managerProgram}, {clientImage, clientProgram}} {
		var built []program
		for _, p := range r.of(image.program) {
			if p.target.os == "linux" {
				built = append(built, p)
			}
		}
		if err := r.packImage(image.name, built); err != nil {
			return fmt.Errorf("image %s: %w", image.name, err)
		}
	}
	return nil
}

func (r *release) packImage(name string, built []program) error {
	index, err := r.index(name, built)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	r.indexes = append(r.indexes, provenance.Resource{Name: r.reference(name), Algorithm: digest.Algorithm, Digest: digest.Hex})
	dir, err := os.MkdirTemp(r.work, "layout-*")
	if err != nil {
		return err
	}
	images, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	whole, err := r.wholeName(name)
	if err != nil {
		return err
	}
	names := map[string]string{ocispec.AnnotationRefName: r.version, containerdName: whole}
	if err := images.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
		return err
	}
	files, err := archive.Folder(dir)
	if err != nil {
		return err
	}
	data, err := archive.Tar(files, r.source.time)
	if err != nil {
		return err
	}
	return r.add(fmt.Sprintf("%s_%s_image.tar", name, r.version), data, built...)
}

// index returns the image of a program for all architectures.
func (r *release) index(name string, built []program) (v1.ImageIndex, error) {
	var index v1.ImageIndex = empty.Index
	for _, p := range built {
		content, err := os.ReadFile(p.path)
		if err != nil {
			return nil, err
		}
		image, err := programimage.Program{
			Name: p.name, Content: content, Arch: p.target.arch, Certificates: r.trusted, Created: r.source.time,
			Labels: map[string]string{
				ocispec.AnnotationTitle: name, ocispec.AnnotationVersion: r.version, ocispec.AnnotationRevision: r.source.commit,
				ocispec.AnnotationLicenses: "Apache-2.0",
			},
		}.Image()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.target.os, Architecture: p.target.arch}},
		})
	}
	return index, nil
}

// wholeName returns the name that a kubelet looks for on its node: that of reference, with the registry that it stands for where it names
// none.
func (r *release) wholeName(name string) (string, error) {
	named, err := reference.ParseDockerRef(r.reference(name))
	if err != nil {
		return "", fmt.Errorf("the name %s of an image: %w", r.reference(name), err)
	}
	return named.String(), nil
}

// reference returns the name and the tag under which an image is to be published.
func (r *release) reference(name string) string {
	if r.images != "" {
		name = r.images + "/" + name
	}
	return name + ":" + r.version
}
