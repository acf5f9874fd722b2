// Command image packs one of our programs as an OCI image, without Docker and without a registry to pull a base from.
//
// It packs one static program, and CA certificates where this machine has them, into an image with nothing else in it: no shell, no package
// manager, an unprivileged user. The same input gives the same bytes. It pushes nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// certificates are the files in which Linux distributions keep the CA certificates.
var certificates = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/cert.pem",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run() error {
	binary := flag.String("binary", "dist/manager", "the static program to pack")
	arch := flag.String("arch", "amd64", "the architecture that the program was built for")
	tag := flag.String("tag", "lifecycle-manager:dev", "the image's name")
	output := flag.String("output", "dist/lifecycle-manager.tar", "the tar archive to write, for docker load and the like")
	flag.Parse()

	reference, err := name.NewTag(*tag)
	if err != nil {
		return fmt.Errorf("the image needs a name with a tag: %w", err)
	}
	program, err := os.ReadFile(*binary)
	if err != nil {
		return fmt.Errorf("read the program, make image builds it: %w", err)
	}
	ca, err := readFirst(certificates)
	if err != nil {
		return err
	}
	image, err := build(filepath.Base(*binary), program, ca, *arch)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(*output, reference, image); err != nil {
		return fmt.Errorf("write %s: %w", *output, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s %s\n", *output, reference, digest)
	return nil
}

// readFirst returns the content of the first file that exists, or nothing.
func readFirst(files []string) ([]byte, error) {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return data, err
	}
	return nil, nil
}
