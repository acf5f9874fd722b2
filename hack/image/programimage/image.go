// Package programimage answers: what is the OCI image of one of our static programs? The image holds the program, CA certificates and a
// folder for temporary files, and nothing else: no shell, no package manager, an unprivileged user. The same input gives the same bytes.
//
// It builds no program and pushes no image.
package programimage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user runs the program: it is the id of the user nonroot in distroless images.
const user = "65532:65532"

// Program is a program to pack.
type Program struct {
	// Name is that of the program's file in the image.
	Name string
	// Content is the program, built for linux and this architecture.
	Content []byte
	Arch    string
	// Certificates are the CA certificates to trust, in PEM; empty for none.
	Certificates []byte
	// Labels describe the image. Created is its date, the epoch by default.
	Labels  map[string]string
	Created time.Time
}

// Image returns the image of the program. Every date in its files is the epoch.
func (p Program) Image() (v1.Image, error) {
	content, err := p.layer()
	if err != nil {
		return nil, err
	}
	packed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, packed)
	if err != nil {
		return nil, fmt.Errorf("add the layer: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	image, err = mutate.ConfigFile(image, p.configure(config))
	if err != nil {
		return nil, fmt.Errorf("configure the image: %w", err)
	}
	return image, nil
}

func (p Program) configure(config *v1.ConfigFile) *v1.ConfigFile {
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", p.Arch
	config.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	if !p.Created.IsZero() {
		config.Created = v1.Time{Time: p.Created.UTC()}
	}
	config.Config = v1.Config{
		User:       user,
		Entrypoint: []string{"/" + p.Name},
		WorkingDir: "/",
		Env:        []string{"PATH=/", "HOME=/tmp"},
		Labels:     p.Labels,
	}
	return config
}

// layer returns a tar archive with the program, the certificates and the folders that they and the program need.
func (p Program) layer() ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	entries := []tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeReg, Name: p.Name, Mode: 0o555, Size: int64(len(p.Content))},
	}
	bodies := map[string][]byte{p.Name: p.Content}
	if len(p.Certificates) > 0 {
		const file = "etc/ssl/certs/ca-certificates.crt"
		for _, dir := range []string{"etc/", "etc/ssl/", path.Dir(file) + "/"} {
			entries = append(entries, tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755})
		}
		entries = append(entries, tar.Header{Typeflag: tar.TypeReg, Name: file, Mode: 0o444, Size: int64(len(p.Certificates))})
		bodies[file] = p.Certificates
	}
	for _, header := range entries {
		header.ModTime, header.Format = time.Unix(0, 0), tar.FormatPAX
		if err := archive.WriteHeader(&header); err != nil {
			return nil, fmt.Errorf("write %s: %w", header.Name, err)
		}
		if _, err := archive.Write(bodies[header.Name]); err != nil {
			return nil, fmt.Errorf("write %s: %w", header.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("close the layer: %w", err)
	}
	return buffer.Bytes(), nil
}
