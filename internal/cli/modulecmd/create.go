package modulecmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/finding"
)

// standardOutput is the name of a file that means standard output.
const standardOutput = "-"

// creation is one call of create.
type creation struct {
	sources
	signing
	place

	template, release, channel, archive, path string
	overwrite, dryRun, skipValidation         bool
}

// create makes the command; old adds the positional arguments of the old CLI.
func (a *author) create(old bool) *cobra.Command {
	var c creation
	command := &cobra.Command{
		Use:   "create [DIR]",
		Short: "Validate, build, sign and publish a module, and write what a cluster needs of it",
		Long: "create goes from a module directory to a component version in a registry, and writes the " +
			"ModuleTemplate and the ModuleReleaseMeta that\n" +
			"a cluster needs. The same again changes nothing; other content under the same version is refused. A new ModuleReleaseMeta offers\n" +
			"the version in --channel; one that is there is changed only when a channel is named. Without --registry nothing is published.",
		Example: "  kyma module create -c notes --registry oci://registry.example.com/modules --sign-key private.pem\n" +
			"  kyma module create -c notes --registry http://localhost:5000 --channel fast -o - | kubectl apply -f -",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return told(c.login.Explain(a.created(command.Context(), &c, args), c.registry))
		},
	}
	flags := command.Flags()
	c.sources.addFlags(command)
	c.signing.addFlags(flags, "sign-key", "key")
	c.place.addFlags(flags)
	flags.StringVarP(&c.template, "output", "o", "template.yaml",
		"file for the ModuleTemplate; - writes it and the ModuleReleaseMeta to standard output")
	flags.StringVar(&c.release, "release-output", "", "file for the ModuleReleaseMeta (default release.yaml beside --output)")
	flags.StringVar(&c.channel, "channel", "",
		"channel that offers the version (default that of the configuration; regular in a new ModuleReleaseMeta)")
	flags.StringVar(&c.archive, "archive", "", "write the component version into this archive as well")
	flags.BoolVar(&c.overwrite, "overwrite", false, "replace other content under the same version")
	flags.BoolVar(&c.dryRun, "dry-run", false, "publish nothing and write no file, and tell whether it could be")
	flags.BoolVar(&c.skipValidation, "skip-validation", false, "do not check the module")
	flags.BoolVar(&c.overwrite, "module-archive-version-overwrite", false, "the same as --overwrite")
	flags.StringVar(&c.archive, "output-constructor-file", "", "takes the place of modulectl's constructor: the same as --archive")
	flags.StringVarP(&c.path, "path", "p", "", "directory of the module")
	hide(flags, "module-archive-version-overwrite", "output-constructor-file", "path")
	if !old {
		return command
	}
	command.Example = ""
	for _, ignored := range []string{"module-archive-persistence", "skip-version-validation", "non-interactive", "ci"} {
		flags.Bool(ignored, false, "has no effect")
		hide(flags, ignored)
	}
	return command
}

// created does it, step by step.
func (a *author) created(ctx context.Context, c *creation, args []string) error {
	if c.path != "" && c.config == "" && len(args) == 0 {
		c.config = c.path
	}
	if c.from == "" || c.config != "" || len(args) > 0 {
		file, err := c.configFile(args)
		if err != nil {
			return err
		}
		c.config, args = file, nil
	}
	if err := a.checked(ctx, c); err != nil {
		return err
	}
	access, err := c.login.Access(a.console.In, append(hosts(c.from), c.registry)...)
	if err != nil {
		return err
	}
	version, source, err := a.prepared(ctx, &c.sources, &c.signing, args, access)
	if err != nil {
		return err
	}
	if source == nil {
		return console.Usage("a ModuleTemplate needs a configuration").With("say --config-file, or use kyma module push --from")
	}
	if c.archive != "" && !c.dryRun {
		if _, err := component.Build(ctx, c.archive, version, options(c.overwrite)...); err != nil {
			return err
		}
	}
	done := published{Name: version.Name, Version: version.Version, DryRun: c.dryRun}
	if c.registry != "" {
		if done, err = a.pushed(ctx, version, &c.place, access, c.overwrite, c.dryRun); err != nil {
			return err
		}
		a.sayChanged(done)
	}
	return a.written(ctx, c, source, done)
}

// checked ends the command when the module has errors.
func (a *author) checked(ctx context.Context, c *creation) error {
	if c.skipValidation || c.config == "" {
		return nil
	}
	_, found, err := a.judged(ctx, c.config, nil, false)
	if err != nil {
		return err
	}
	for _, f := range found {
		a.console.Sayf("%s", f)
	}
	if errors, _ := finding.Count(found); errors > 0 {
		return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("the module has %d errors", errors)}).
			With("mend them; --skip-validation publishes it as it is")
	}
	return nil
}

// written writes what a cluster needs.
func (a *author) written(ctx context.Context, c *creation, source *packaging.Source, done published) error {
	namespace, err := a.namespace(source.Config.Namespace)
	if err != nil {
		return err
	}
	template, err := source.Template(ctx, namespace)
	if err != nil {
		return err
	}
	text, err := packaging.Encode(template)
	if err != nil {
		return err
	}
	release, file, err := a.releaseText(c, source, namespace)
	if err != nil {
		return err
	}
	if c.template == standardOutput {
		_, err := a.console.Out.Write(bytes.Join([][]byte{text, release}, []byte("---\n")))
		return err
	}
	if !c.dryRun {
		if err := a.writeFiles(map[string][]byte{c.template: text, file: release}, c.template, file); err != nil {
			return err
		}
	}
	if done.Digest != "" {
		_, err = fmt.Fprintln(a.console.Out, done.Digest)
	}
	return err
}

// releaseText is the ModuleReleaseMeta with the new version, and the file that it belongs in.
func (a *author) releaseText(c *creation, source *packaging.Source, namespace string) (text []byte, file string, err error) {
	channel := c.channel
	if channel == "" {
		channel = source.Config.Channel
	}
	if file = c.release; file == "" {
		file = filepath.Join(filepath.Dir(c.template), "release.yaml")
	}
	if c.template != standardOutput {
		if there, err := os.ReadFile(file); err == nil {
			text, err := a.releaseWith(file, there, source, channel)
			return text, file, err
		}
	}
	if channel == "" {
		channel = v1beta2.DefaultChannel
	}
	text, err = packaging.Encode(packaging.ReleaseMeta(source.Config, channel, namespace))
	return text, file, err
}

// releaseWith changes a ModuleReleaseMeta that is there, if a channel was named.
func (a *author) releaseWith(file string, text []byte, source *packaging.Source, channel string) ([]byte, error) {
	there, err := packaging.ParseReleaseFile(file, text, source.Config.ModuleName())
	if err != nil {
		return nil, err
	}
	if channel == "" {
		a.console.Sayf("%s stays as it is: kyma release set or promote lets a channel offer %s.", file, source.Config.Version)
		return text, nil
	}
	wanted := []v1beta2.ChannelVersion{{Channel: channel, Version: source.Config.Version}}
	moves, err := packaging.Moves(there.Meta.Spec.Channels, wanted)
	if err != nil {
		return nil, err
	}
	if moves[0].Downgrade {
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"channel %s offers %s already, which is higher than %s", channel, moves[0].From, moves[0].To)}).
			With("kyma release set --allow-downgrade lowers it; leave out --channel to publish the version alone")
	}
	err = there.Move(moves)
	return there.Text, err
}

// writeFiles writes files that differ, and says so.
func (a *author) writeFiles(texts map[string][]byte, order ...string) error {
	for _, file := range order {
		before, err := os.ReadFile(file)
		if err == nil && bytes.Equal(before, texts[file]) {
			continue
		}
		if err := packaging.WriteFile(file, texts[file]); err != nil {
			return err
		}
		a.console.Sayf("%s is written.", file)
	}
	return nil
}

// namespace is where ModuleTemplates and ModuleReleaseMetas go: as the flag says, as the configuration does, or where the operator looks.
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
