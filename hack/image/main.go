// Command image packs one of our programs as an OCI image, without Docker and without a registry to pull a base from.
//
// Package programimage says what is in it; the CA certificates are those of this machine, where it has some. It pushes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/kyma-project/lifecycle-manager/hack/image/programimage"
)

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
	ca, err := programimage.Certificates("")
	if err != nil {
		return err
	}
	image, err := programimage.Program{Name: filepath.Base(*binary), Content: program, Arch: *arch, Certificates: ca}.Image()
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
