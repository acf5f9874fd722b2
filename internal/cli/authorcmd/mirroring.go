package authorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/airgap"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

const (
	// dirScheme begins the address of a directory to carry over.
	dirScheme = "dir:"
	// carriedRelease and carriedModules are what such a directory has beside its layout.
	carriedRelease = "release"
	carriedModules = "modules.yaml"
)

// mirroring holds the flags of mirror, and what they lead to.
type mirroring struct {
	from, to    registryauth.Options
	source      string
	destination string
	release     string
	hub         bool
	registry    string
	results     string
	how         component.CopyOptions
	concurrency int
	output      *console.Formats

	target    airgap.Target
	directory string // of the target, where it is none of a dry run
	folder    *airgap.Release
	modules   []component.Ref
	unnamed   []airgap.Offer // modules of the hub whose component is not known
	objects   []byte         // what the hub offers
}

func (a *author) mirroring() *cobra.Command {
	m := &mirroring{from: logins(), to: logins(), how: component.CopyOptions{Images: true, Referrers: true}}
	command := &cobra.Command{
		Use:   "mirror [REF...]",
		Short: "Copy a release, modules and their images into a private registry",
		Long: "mirror copies component versions with their images, the images of a release, or everything that a hub offers into one registry. " +
			"Digests\nand signatures stay, as with kyma module copy --images; what refers to an image (signatures, attestations, SBOMs) " +
			"goes along. " +
			"What is\nthere by digest is not sent again: after an interruption, the same command continues.\n\n" +
			"Where no network leads to the registry, --to dir:PATH writes everything into a directory, an OCI image layout, and --from dir:PATH\n" +
			"takes it from there on the other side.\n\n" +
			"For what is installed then, it writes install.yaml and modules.yaml into the folder of --results.",
		Example: "  kyma mirror --release dist/release --to oci://registry.internal/kyma\n" +
			"  kyma mirror oci://ghcr.io/example//example.com/module/notes:0.1.0 --to oci://registry.internal/kyma --dry-run\n" +
			"  kyma mirror --hub --registry oci://ghcr.io/example --release dist/release --to dir:/media/disk\n" +
			"  kyma mirror --from dir:/media/disk --to oci://registry.internal/kyma --to-username me --to-password-stdin < password",
		Args: cobra.ArbitraryArgs,
	}
	m.addFlags(command)
	command.RunE = func(command *cobra.Command, args []string) error { return a.runMirroring(command.Context(), m, args) }
	return command
}

func (m *mirroring) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&m.destination, "to", "", "where everything goes: oci://HOST[:PORT][/PATH] (http:// without TLS), or dir:PATH")
	flags.StringVar(&m.source, "from", "", "dir:PATH, a directory that mirror wrote: take everything in it")
	flags.StringVar(&m.release, "release", "", "folder of a release: its images go along, after its sums were checked")
	flags.BoolVar(&m.hub, "hub", false, "every version of every module that the current cluster offers")
	flags.StringVar(&m.registry, "registry", "", "registry that has the modules of --hub: oci://HOST[:PORT][/PATH]")
	flags.StringVar(&m.results, "results", "mirror", "folder for install.yaml and modules.yaml")
	flags.BoolVar(&m.how.Overwrite, "overwrite", false, "replace other content under the same version or tag")
	flags.BoolVar(&m.how.DryRun, "dry-run", false, "copy nothing, and report what would be copied")
	flags.IntVar(&m.concurrency, "concurrency", 4, "how many modules and images are copied at a time")
	m.addLogins(flags)
	m.output = console.OutputFlag()
	flags.VarP(m.output, "output", "o", "how to write it: "+m.output.Words())
}

func (m *mirroring) addLogins(flags *pflag.FlagSet) {
	m.from.AddFlags(flags)
	m.to.AddFlagsFor(flags, "to-")
}

// check returns an error for flags that make no sense together.
func (m *mirroring) check(refs []string) error {
	switch {
	case m.destination == "":
		return console.Usage("--to is missing").With("name a registry, such as oci://registry.example.com/kyma, or dir:PATH")
	case m.source != "" && !strings.HasPrefix(m.source, dirScheme):
		return console.Usage("--from %s is no directory", m.source).
			With("write it as dir:PATH; modules of a registry are named as arguments, or by --hub")
	case m.source == "" && m.release == "" && !m.hub && len(refs) == 0:
		return console.Usage("nothing is to be copied").With("name component versions, --release, --hub, or --from dir:PATH")
	case m.hub && m.registry == "":
		return console.Usage("--hub does not say where the content of its modules is").With("set --registry to the registry of that hub")
	case m.source != "" && (m.release != "" || m.hub || len(refs) > 0):
		return console.Usage("--from takes everything in the directory, and nothing else").With("call mirror a second time for the rest")
	case m.source != "" && sameDirectory(m.source, m.destination):
		return console.Usage("--from and --to are the same directory")
	case m.concurrency < 1 || m.concurrency > 64:
		return console.Usage("--concurrency %d is not from 1 to 64", m.concurrency)
	}
	return nil
}

// sameDirectory reports whether two addresses name one directory.
func sameDirectory(from, to string) bool {
	a, _ := strings.CutPrefix(from, dirScheme)
	b, isDir := strings.CutPrefix(to, dirScheme)
	return isDir && filepath.Clean(a) == filepath.Clean(b)
}

// sourcesOf finds out what is to be copied.
func (a *author) sourcesOf(ctx context.Context, m *mirroring, refs []string) (err error) {
	access, err := m.from.Access(a.console.In, append(refs, m.registry)...)
	if err != nil {
		return withExitCode(err)
	}
	for _, text := range refs {
		ref, err := component.ParseRef(text, access)
		if err != nil {
			return console.Usage("%w", err)
		}
		if ref.Registry == nil || ref.Version == "" {
			return console.Usage("%s is no version in a registry", text).With("write it as oci://HOST/PATH//NAME:VERSION")
		}
		m.modules = append(m.modules, ref)
	}
	release := m.release
	if m.hub {
		err = a.offered(ctx, m, access)
	}
	if dir, ok := strings.CutPrefix(m.source, dirScheme); ok {
		release, err = m.carried(dir)
	}
	if err != nil || release == "" {
		return err
	}
	if m.folder, err = airgap.ReadRelease(release); err == nil {
		err = m.folder.Check(ctx)
	}
	return withExitCode(err)
}

// carried reads a directory that mirror wrote, and returns the release in it.
func (m *mirroring) carried(dir string) (release string, err error) {
	if m.modules, err = component.Versions(dir); err != nil {
		return "", withExitCode(err)
	}
	if m.objects, err = os.ReadFile(filepath.Join(dir, carriedModules)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, carriedRelease)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return filepath.Join(dir, carriedRelease), nil
}

// offered reads what the hub offers.
func (a *author) offered(ctx context.Context, m *mirroring, access component.Access) error {
	reader, err := a.target.Client()
	if err != nil {
		return err
	}
	var where []client.ListOption
	namespace, explicit, err := a.target.Namespace()
	if err != nil {
		return err
	}
	if explicit {
		where = append(where, client.InNamespace(namespace))
	}
	offers, err := airgap.Read(ctx, reader, where...)
	if err != nil {
		return err
	}
	m.objects = offers.Objects
	for _, offer := range offers.Modules {
		if offer.Component == "" || offer.Version == "" {
			m.unnamed = append(m.unnamed, offer)
			continue
		}
		text := fmt.Sprintf("%s//%s:%s", strings.TrimRight(m.registry, "/"), offer.Component, offer.Version)
		ref, err := component.ParseRef(text, access)
		if err != nil {
			return console.Usage("%w", err)
		}
		m.modules = append(m.modules, ref)
	}
	return nil
}

// openTarget opens the target; closing ends its use.
func (a *author) openTarget(ctx context.Context, m *mirroring) (closing func() error, err error) {
	m.target.How = m.how
	dir, ok := strings.CutPrefix(m.destination, dirScheme)
	if !ok {
		ref, err := a.destination(m.destination, &m.to)
		if err != nil {
			return nil, err
		}
		if ref.Registry == nil || ref.Name != "" {
			return nil, console.Usage("--to %s is no registry", m.destination).With("write it as oci://HOST[:PORT][/PATH], or dir:PATH")
		}
		m.target.Registry = ref.Registry
		return func() error { return nil }, nil
	}
	if dir == "" {
		return nil, console.Usage("--to dir: names no directory")
	}
	remove := func() error { return nil }
	if _, missing := os.Stat(dir); missing != nil && m.how.DryRun { // a dry run makes no directory
		if dir, err = os.MkdirTemp("", "kyma-dry-run-"); err != nil {
			return nil, err
		}
		remove = func() error { return os.RemoveAll(dir) }
	}
	if m.target.Layout, err = component.OpenLayout(ctx, dir); err != nil {
		return nil, errors.Join(err, remove())
	}
	m.directory = dir
	return func() error { return errors.Join(m.target.Layout.Close(), remove()) }, nil
}
