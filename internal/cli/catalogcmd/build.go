package catalogcmd

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// building is one call of `kyma catalog build`.
type building struct {
	*call

	to, source, updated, push, key, expires string
	version                                 int64
	check                                   bool
}

// output is one file that was written, or an artifact that was pushed.
type output struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Action string `json:"action"`
}

// outputs is the output of build for programs.
type outputs struct {
	console.Versioned
	Modules []communitycatalog.Module `json:"modules"`
	Items   []output                  `json:"items"`
}

// build returns the command that makes all-modules.yaml and all-modules.json.
func build(c *call) *cobra.Command {
	b := &building{call: c}
	command := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Make all-modules.yaml and all-modules.json of a catalog's folder",
		Long: "build checks the folder as lint does, and refuses it where there are errors. The same folder and flags give the same bytes\n" +
			"on every machine. The digests it prints are what kyma catalog source add --digest takes.\n" +
			"With --key the files are signed, by FILE.sig beside each, and what is pushed as cosign signs it; the same key gives the same bytes.\n" +
			"What is signed says its version and its expiry, so that readers refuse an old catalog in place of a newer one: by default the\n" +
			"seconds since 1970, and 180 days later (from SOURCE_DATE_EPOCH where it is set). --check takes both from the files that are there.\n" +
			"The day of --updated (or of SOURCE_DATE_EPOCH) and the address of --source are noted on every template; without them, nothing is.",
		Example: "  kyma catalog build --to dist --source https://example.com/catalog/all-modules.yaml\n" +
			"  kyma catalog build community-modules --to dist --check\n" +
			"  kyma catalog build --to dist --push oci://ghcr.io/example/catalog:latest --key private.pem",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return withExitCode(b.run(command.Context(), folder(args)))
		},
	}
	flags := command.Flags()
	flags.StringVar(&b.to, "to", ".", "folder to write to; it is made when it is missing")
	flags.StringVar(&b.source, "source", "", "address that the catalog will have")
	flags.StringVar(&b.updated, "updated", "", "day of the catalog, as 2026-01-31")
	flags.BoolVar(&b.check, "check", false, "write nothing; exit code 1 means that the files there differ from the folder")
	flags.StringVar(&b.key, "key", "", "PEM file with the RSA private key to sign with; kyma catalog source add --key takes the public one")
	flags.Int64Var(&b.version, "version", 0,
		"version of the catalog, higher than that of every one before (default: with --key, the seconds since 1970)")
	flags.StringVar(&b.expires, "expires", "",
		"when the catalog expires: 2026-12-31, days as 180d, or never (default: with --key, "+defaultExpiry+")")
	flags.StringVar(&b.push, "push", "", "push it to a registry too: oci://HOST/PATH:TAG")
	c.webFlags(flags)
	c.outputFlag(flags, console.Table, console.JSON, console.YAML, console.Name)
	return command
}

func (b *building) run(ctx context.Context, dir string) error {
	if b.check && b.push != "" {
		return console.Usage("--check and --push exclude each other: the one changes nothing, the other does")
	}
	signer, err := b.signer(ctx)
	if err != nil {
		return err
	}
	options, err := b.options(ctx, time.Now())
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // read only: nothing can be lost
	if err := b.refused(ctx, root.FS(), dir); err != nil {
		return err
	}
	made, err := communitycatalog.Build(root.FS(), options)
	if err != nil {
		return err
	}
	done, err := b.files(ctx, made, signer)
	if err != nil {
		return err
	}
	if b.push != "" {
		pushed, err := b.pushed(ctx, made, signer)
		if err != nil {
			return err
		}
		done = append(done, pushed)
	}
	return b.print(made, done)
}

// signer returns the key of --key, nil without a signature.
func (b *building) signer(ctx context.Context) (*rsa.PrivateKey, error) {
	if b.key == "" {
		return nil, nil //nolint:nilnil // signing is requested by a key
	}
	text, err := userfile.Read(ctx, b.key)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	signer, err := component.ReadSigner(text, nil)
	if err != nil {
		return nil, console.Usage("--key=%s: %w", b.key, err).With("openssl genrsa -out private.pem 3072 makes one")
	}
	key, isRSA := signer.Key.(*rsa.PrivateKey)
	if !isRSA {
		return nil, console.Usage("--key=%s: catalogs are signed by RSA keys", b.key).With("openssl genrsa -out private.pem 3072 makes one")
	}
	return key, nil
}

// pushed pushes the catalog to the registry, with a signature beside it.
func (b *building) pushed(ctx context.Context, made communitycatalog.Built, signer *rsa.PrivateKey) (output, error) {
	limits, err := b.limits(b.push)
	if err != nil {
		return output{}, err
	}
	done := output{Name: b.push, Action: "pushed"}
	if done.Digest, err = communitycatalog.Push(ctx, b.push, made, limits); err != nil || signer == nil {
		return done, err
	}
	done.Action = "pushed and signed"
	if err := communitycatalog.PushSignature(ctx, b.push, done.Digest, signer, limits); err != nil {
		return done, fmt.Errorf("%s was pushed, and is not signed: %w", b.push, err)
	}
	return done, nil
}

// refused returns an error if the folder has errors, and prints them. Warnings are left to lint.
func (b *building) refused(ctx context.Context, files fs.FS, dir string) error {
	found := communitycatalog.Lint(ctx, files, communitycatalog.Options{})
	errors, _ := diagnostics.Count(found)
	if errors == 0 {
		return nil
	}
	for _, f := range inFolder(dir, found) {
		if f.Severity == diagnostics.Error {
			b.console.Sayf("%s", f)
		}
	}
	return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("the folder %s has %s", dir, english.Plural(errors, "error", ""))}).
		With("kyma catalog lint shows the warnings too")
}

// published is one file of a catalog.
type published struct {
	name string
	text []byte
}

// publishedFiles returns the files of a catalog, each with its signature, if it is signed.
func publishedFiles(made communitycatalog.Built, signer *rsa.PrivateKey) ([]published, error) {
	all := []published{{communitycatalog.FileYAML, made.YAML}, {communitycatalog.FileJSON, made.JSON}}
	if signer == nil {
		return all, nil
	}
	for _, file := range all[:2] {
		signature, err := communitycatalog.Sign(signer, file.text)
		if err != nil {
			return nil, err
		}
		all = append(all, published{file.name + communitycatalog.SignatureSuffix, []byte(signature + "\n")})
	}
	return all, nil
}

// files writes all files, or compares them with the existing ones.
func (b *building) files(ctx context.Context, made communitycatalog.Built, signer *rsa.PrivateKey) ([]output, error) {
	all, err := publishedFiles(made, signer)
	if err != nil {
		return nil, err
	}
	if !b.check {
		if err := os.MkdirAll(b.to, 0o755); err != nil { //nolint:gosec // a directory of sources, as mkdir makes it
			return nil, err
		}
	}
	var done []output
	var stale []string
	for _, file := range all {
		path := filepath.Join(b.to, file.name)
		is := output{Name: filepath.ToSlash(path), Digest: digest(file.text), Action: "unchanged"}
		_, same, err := userfile.Compare(path, file.text)
		switch {
		case err == nil && same:
		case err == nil && b.check:
			stale = append(stale, is.Name)
		case err == nil:
			is.Action = "written"
			_, err = userfile.Write(ctx, path, file.text)
		}
		if err != nil {
			return nil, err
		}
		done = append(done, is)
	}
	if len(stale) > 0 {
		return nil, (&console.Failure{
			Code: console.CodeError, Err: fmt.Errorf("%s: not what the folder gives", strings.Join(stale, ", ")),
		}).With("run kyma catalog build with the same flags and without --check")
	}
	return done, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (b *building) print(made communitycatalog.Built, done []output) error {
	document := console.Document{
		Data:    outputs{Versioned: console.Kind("CatalogBuild"), Modules: made.Collection.Modules(), Items: done},
		Columns: []console.Column{{Name: "NAME"}, {Name: "ACTION"}, {Name: "DIGEST"}},
	}
	for _, o := range done {
		document.Names = append(document.Names, o.Name)
		document.Rows = append(document.Rows, []string{o.Name, o.Action, o.Digest})
	}
	return b.console.Print(b.output.Format, document)
}
