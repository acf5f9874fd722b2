package authorcmd

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

// standardOutput is the file name that means standard output.
const standardOutput = "-"

// isStream reports whether a file accepts several documents one after the other, and has no folder for a second file beside it.
func isStream(file string) bool { return file == standardOutput || userfile.IsStream(file) }

// creation is one call of create.
type creation struct {
	sources
	signing
	place

	template, release, channel, archive, constructor, path string
	overwrite, dryRun, skipValidation                      bool
	skipManagerVersion, keepUnpublished                    bool
}

// create returns the command; old adds the positional arguments of the old CLI.
func (a *author) create(old bool) *cobra.Command {
	var c creation
	command := &cobra.Command{
		Use:   "create [DIR]",
		Short: "Validate, build, sign and publish a module, and write what a cluster needs of it",
		Long: "create goes from a module directory to a component version in a registry, and writes the " +
			"ModuleTemplate and the ModuleReleaseMeta that\n" +
			"a cluster needs. The same again changes nothing; other content under the same version is refused. A new ModuleReleaseMeta offers\n" +
			"the version in --channel; one that is there is changed only when a channel is named. Without --registry nothing is published.\n\n" +
			"On standard output the ModuleReleaseMeta has this channel only, unless --release-output names a file with the others: for a module\n" +
			"that is offered already, apply the ModuleTemplate, and then kyma release set.",
		Example: "  kyma module create -c notes --registry oci://registry.example.com/modules --sign-key private.pem\n" +
			"  kyma module create -c notes --registry http://localhost:5000 --channel fast -o - | kubectl apply -f -",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			a.sayIgnored(command)
			return withExitCode(c.login.Explain(a.created(command.Context(), &c, args), c.registry))
		},
	}
	flags := command.Flags()
	c.sources.addFlags(command)
	c.signing.addFlags(flags, "sign-key", "key")
	c.place.addFlags(flags)
	flags.StringVarP(&c.template, "output", "o", "template.yaml",
		"file for the ModuleTemplate; - writes it and the ModuleReleaseMeta to standard output, and a device or a pipe takes both, too")
	flags.StringVar(&c.release, "release-output", "",
		"file for the ModuleReleaseMeta (default release.yaml beside --output, or release-MODULE.yaml where that is of another module)")
	flags.StringVar(&c.channel, "channel", "",
		"channel that offers the version (default that of the configuration; regular in a new ModuleReleaseMeta)")
	flags.StringVar(&c.archive, "archive", "", "write the component version into this archive as well")
	flags.BoolVar(&c.overwrite, "overwrite", false, "replace other content under the same version")
	flags.BoolVar(&c.dryRun, "dry-run", false, "publish nothing, write no file, and report whether it would succeed")
	flags.BoolVar(&c.skipValidation, "skip-validation", false, "do not check the module")
	flags.StringVar(&c.constructor, "output-constructor-file", "",
		"write a component constructor as well, which the ocm CLI builds the same component version from")
	c.addOldFlags(flags, old)
	if old {
		command.Example = ""
	}
	return command
}

// created carries out create, step by step.
func (a *author) created(ctx context.Context, c *creation, args []string) error {
	if c.path != "" && c.config == "" && len(args) == 0 {
		c.config = c.path
	}
	if c.from == "" || c.config != "" || len(args) > 0 {
		file, err := c.configFile(args)
		if err != nil {
			return err
		}
		c.config = file
	}
	if userfile.IsStandardOutput(c.template) {
		c.template = standardOutput
	}
	if c.keepUnpublished {
		c.registry = ""
	}
	source, err := a.checked(ctx, c)
	if err != nil {
		return err
	}
	// Published content stays published, so a file that does not accept the new version must be noticed before.
	texts, err := a.made(ctx, c, source)
	if err != nil {
		return err
	}
	access, err := c.login.Access(a.console.In, append(hosts(c.from), c.registry)...)
	if err != nil {
		return err
	}
	version, err := a.prepared(ctx, &c.sources, &c.signing, source, access)
	if err != nil {
		return err
	}
	if c.archive != "" && !c.dryRun {
		built, err := built(ctx, c.archive, version, c.overwrite)
		if err != nil {
			return err
		}
		a.sayChanged(built)
	}
	done := published{Name: version.Name, Version: version.Version, DryRun: c.dryRun}
	if c.registry != "" {
		if done, err = a.pushed(ctx, version, &c.place, access, c.overwrite, c.dryRun); err != nil {
			return err
		}
		a.sayChanged(done)
	}
	if err := a.written(ctx, c, texts, done); err != nil {
		return err
	}
	return a.constructed(ctx, c, source, version)
}

// checked returns the module, or an error if it has findings that are errors.
func (a *author) checked(ctx context.Context, c *creation) (*packaging.Source, error) {
	if c.config == "" {
		return nil, console.Usage("a ModuleTemplate needs a configuration").With("set --config-file, or use kyma module push --from")
	}
	if c.skipValidation {
		source, err := a.load(ctx, c.config)
		if err == nil {
			err = c.configure(ctx, source)
		}
		return source, err
	}
	source, found, err := a.judged(ctx, c.config, &judging{change: c.configure})
	if err != nil {
		return nil, err
	}
	if c.skipManagerVersion {
		found = slices.DeleteFunc(found, func(f diagnostics.Finding) bool { return f.Rule == modulelint.RuleManagerVersion })
	}
	for _, f := range found {
		a.console.Sayf("%s", f)
	}
	if errors, _ := diagnostics.Count(found); errors > 0 {
		hint := "fix the errors; --skip-validation publishes it as it is"
		if source == nil { // it cannot be read
			hint = "fix the errors"
		}
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("the module has %s", english.Plural(errors, "error", ""))}).
			With("%s", hint)
	}
	return source, nil
}

// forCluster holds the texts of the ModuleTemplate and of the ModuleReleaseMeta, and the file for the latter.
type forCluster struct {
	template, release []byte
	releaseFile       string
}

// made returns the objects that a cluster needs.
func (a *author) made(ctx context.Context, c *creation, source *packaging.Source) (texts forCluster, err error) {
	namespace, err := a.namespace(source.Config.Namespace)
	if err != nil {
		return texts, err
	}
	template, err := source.Template(ctx, namespace)
	if err != nil {
		return texts, err
	}
	if texts.template, err = packaging.Encode(template); err != nil {
		return texts, err
	}
	texts.release, texts.releaseFile, err = a.releaseText(ctx, c, source, namespace)
	return texts, err
}

// written writes the objects that a cluster needs.
func (a *author) written(ctx context.Context, c *creation, texts forCluster, done published) (err error) {
	both := bytes.Join([][]byte{texts.template, texts.release}, []byte("---\n"))
	switch {
	case c.template == standardOutput:
		_, err = a.console.Out.Write(both)
		return err
	case c.dryRun:
		for _, file := range slices.Compact([]string{c.template, texts.releaseFile}) {
			a.console.Sayf("%s would be written.", file)
		}
	case texts.releaseFile == c.template:
		err = a.writeFiles(ctx, map[string][]byte{c.template: both}, c.template)
	default:
		files := map[string][]byte{c.template: texts.template, texts.releaseFile: texts.release}
		err = a.writeFiles(ctx, files, c.template, texts.releaseFile)
	}
	if err != nil {
		return err
	}
	if done.Digest == "" {
		return nil
	}
	_, err = fmt.Fprintln(a.console.Out, done.Digest)
	return err
}

// writeFiles writes files that differ, and prints their names.
func (a *author) writeFiles(ctx context.Context, texts map[string][]byte, order ...string) error {
	for _, file := range order {
		changed, err := userfile.Write(ctx, file, texts[file])
		if err != nil {
			return err
		}
		if changed {
			a.console.Sayf("%s is written.", file)
		}
	}
	return nil
}

// namespace returns the namespace of ModuleTemplates and ModuleReleaseMetas: from the flag, from the configuration, or the one that the
// operator watches.
func (a *author) namespace(configured string) (string, error) {
	namespace, explicit, err := a.target.Namespace()
	switch {
	case explicit:
		return namespace, err
	case configured != "":
		return configured, nil
	}
	return v1beta2.DefaultNamespace, nil
}
