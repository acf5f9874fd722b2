// Command release builds what a release is into a folder, without a network: kyma for several platforms, images, the installation, a chart,
// the manifest of a kubectl plugin, man pages and completions, an SBOM, a provenance, sums, and a signature where there is a key. The same
// commit gives the same bytes. docs/releasing.md says what each file is for.
//
// It publishes nothing, and releases only what is committed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/hack/release/signing"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
)

func main() { os.Exit(runCommand()) }

// runCommand runs the command line until it is interrupted, and returns the exit code.
func runCommand() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		return 1
	}
	return 0
}

// options are what the caller says about a release.
type options struct {
	version, platforms, images, registry, download, builder string
	root, out, key, certificates                            string
}

func run(ctx context.Context, args []string, log io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	r := &release{options: o, log: log}
	if r.targets, err = parsePlatforms(o.platforms); err != nil {
		return err
	}
	if r.signer, err = readSigner(o.key); err != nil {
		return err
	}
	if r.source, err = readSource(ctx, o.root); err != nil {
		return err
	}
	r.tools = goCommand{root: o.root, version: o.version, images: o.images, source: r.source}
	return r.build(ctx)
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.version, "version", "", "the `version`, such as 1.2.3 or 1.3.0-rc.1")
	flags.StringVar(&o.platforms, "platforms", "linux/amd64,linux/arm64", "the `platforms` of kyma; those of linux are the images', too")
	flags.StringVar(&o.images, "images", "", "`prefix` of the images' names where they will be published, such as registry.example.com/kyma")
	flags.StringVar(&o.registry, "registry", "", "`registry` of the modules, such as https://registry.example.com, for install.yaml and chart")
	flags.StringVar(&o.download, "download", "", "`address` of the folder where the files will be published, for the kubectl plugin")
	flags.StringVar(&o.builder, "builder", "", "`address` that identifies what runs this build, for the provenance (default: a local build)")
	flags.StringVar(&o.root, "root", ".", "the `checkout` to release")
	flags.StringVar(&o.out, "out", "dist/release", "the `folder` for the release; it must be empty, missing or an earlier release")
	flags.StringVar(&o.key, "key", "", "`file` with the private key to sign with, in PEM (default: no signature)")
	flags.StringVar(&o.certificates, "certificates", "", "`file` with the CA certificates that images trust (default: those of this machine)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: everything is a flag", flags.Arg(0))
	}
	return o, o.check()
}

// check returns what is wrong with the version and the addresses.
func (o options) check() error {
	version, err := semver.StrictNewVersion(o.version)
	switch {
	case o.version == "":
		return errors.New("which version? make release VERSION=1.2.3")
	case err != nil:
		return fmt.Errorf("version %q is not one of semantic versioning, such as 1.2.3 or 1.3.0-rc.1: %w", o.version, err)
	case version.Metadata() != "":
		return fmt.Errorf("version %q has build metadata, which a tag of an image cannot have: leave out +%s", o.version, version.Metadata())
	case strings.Contains(o.images, "://") || strings.HasSuffix(o.images, "/"):
		return fmt.Errorf("images %q: write host/path, without a scheme and without a slash at the end", o.images)
	case o.download != "" && !strings.HasPrefix(o.download, "https://"):
		return fmt.Errorf("download %q: kubectl plugins are downloaded by https only", o.download)
	}
	return managerinstall.Options{Registry: o.registry}.Check()
}

// readSigner returns nil where there is no key.
func readSigner(file string) (*signing.Key, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("read the key to sign with: %w", err)
	}
	key, err := signing.ReadKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &key, nil
}
