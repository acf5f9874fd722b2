package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"path"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// user runs the program: it is the id of the user nonroot in distroless images.
const user = "65532:65532"

// build returns the image of a program, which has this name in the image. Every date in it is the epoch.
func build(name string, program, certificates []byte, arch string) (v1.Image, error) {
	content, err := layer(name, program, certificates)
	if err != nil {
		return nil, err
	}
	packed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	})
	if err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	image, err := mutate.AppendLayers(empty.Image, packed)
	if err != nil {
		return nil, fmt.Errorf("add the layer: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	image, err = mutate.ConfigFile(image, configure(config, name, arch))
	if err != nil {
		return nil, fmt.Errorf("configure the image: %w", err)
	}
	return image, nil
}

func configure(config *v1.ConfigFile, name, arch string) *v1.ConfigFile {
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", arch
	config.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	config.Config = v1.Config{
		User:       user,
		Entrypoint: []string{"/" + name},
		WorkingDir: "/",
		Env:        []string{"PATH=/", "HOME=/tmp"},
	}
	return config
}

// layer returns a tar archive with the program, the certificates and the folders that they and the program need.
func layer(name string, program, certificates []byte) ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	entries := []tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeReg, Name: name, Mode: 0o555, Size: int64(len(program))},
	}
	bodies := map[string][]byte{name: program}
	if len(certificates) > 0 {
		const file = "etc/ssl/certs/ca-certificates.crt"
		for _, dir := range []string{"etc/", "etc/ssl/", path.Dir(file) + "/"} {
			entries = append(entries, tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755})
		}
		entries = append(entries, tar.Header{Typeflag: tar.TypeReg, Name: file, Mode: 0o444, Size: int64(len(certificates))})
		bodies[file] = certificates
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
