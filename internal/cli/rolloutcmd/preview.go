package rolloutcmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/contentflags"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubsettings"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// previewing is one call of release preview.
type previewing struct {
	*call
	content  contentflags.Flags
	files    hubsettings.Files
	in       string
	all      bool
	exitCode bool
}

// previewDocument is the output of release preview for programs.
type previewDocument struct {
	console.Versioned
	releaseoutlook.Outlook
	// DryRun is the answer of one runtime; absent without --dry-run-in.
	DryRun *releaseoutlook.Answer `json:"dryRun,omitempty"`
}

// releasePreview returns the command that foretells a promotion.
func releasePreview(c *call) *cobra.Command {
	p := &previewing{call: c, files: hubsettings.Files{ReadFile: userfile.Read}}
	command := &cobra.Command{
		Use:   "preview MODULE CHANNEL=VERSION",
		Short: "Show what would happen if a channel offered another version",
		Long: "Show what another version would change, and what would become of each Kyma that follows the channel. Nothing is changed.\n\n" +
			"What changes is rendered from the modules' registry, once for each version that Kymas have: rights, webhooks, definitions,\n" +
			"images, objects, restarts, requirements, and the way back. The values of Secrets are not shown. What becomes of the Kymas is\n" +
			"decided as the lifecycle manager decides: they upgrade at once, wait for a wave or a maintenance window, need consent, are\n" +
			"refused, or do not answer. Policies are read from the manager's ConfigMaps where you may read them.\n\n" +
			"--dry-run-in asks one runtime by a dry run on its API server. With --exit-code the code is 1 where anything would be different, 0\n" +
			"where nothing would, and above 1 after a failure.",
		Example: "  kyma release preview notes regular=1.3.0\n  kyma release preview notes regular=1.3.0 --all\n" +
			"  kyma release preview notes regular=1.3.0 --dry-run-in kcp-system/demo\n  kyma release preview notes regular=1.3.0 -o json",
		Args:              previewArgs,
		ValidArgsFunction: p.complete,
		RunE: func(command *cobra.Command, args []string) error {
			return p.run(command.Context(), args[0], args[1])
		},
	}
	flags := command.Flags()
	flags.StringVar(&p.in, "dry-run-in", "", "also ask the runtime of this Kyma, by a dry run: [NAMESPACE/]NAME")
	flags.BoolVar(&p.all, "all", false, "show everything that changes, and all Kymas")
	flags.BoolVar(&p.exitCode, "exit-code", false, "end with exit code 1 where anything would be different")
	flags.StringVar(&p.files.Windows, "maintenance-policy-file", "",
		"file with the maintenance windows (default: that of the lifecycle manager, where you may read its ConfigMap)")
	flags.StringVar(&p.files.Approvals, "approval-file", "",
		"file that says which versions need consent (default: that of the lifecycle manager, where you may read its ConfigMap)")
	p.content.Add(flags)
	p.outputFlag(command, "how to write it", console.Table, console.JSON, console.YAML)
	return command
}

func previewArgs(command *cobra.Command, args []string) error {
	if len(args) == 2 && strings.Contains(args[1], "=") {
		return nil
	}
	return console.Usage("%s: a module and CHANNEL=VERSION are needed", command.CommandPath()).
		With("for example: kyma release preview notes regular=1.3.0")
}

func (p *previewing) run(ctx context.Context, name, change string) error {
	document, unanswered, err := p.look(ctx, name, change)
	if err == nil {
		err = cmp.Or(p.print(&document), unanswered)
	}
	if err == nil && p.exitCode && document.Differs() {
		return console.Quiet(console.CodeError)
	}
	if p.exitCode {
		return console.AboveOne(err)
	}
	return err
}

// look looks at everything. What is known is shown where the runtime that is asked does not answer; unanswered says why.
func (p *previewing) look(ctx context.Context, name, change string) (document previewDocument, unanswered, err error) {
	document = previewDocument{Versioned: console.Kind("ReleasePreview")}
	channel, version, _ := strings.Cut(change, "=")
	if channel == "" || version == "" {
		return document, nil, console.Usage("%s is not CHANNEL=VERSION", change).With("for example: regular=1.3.0")
	}
	cluster, err := p.target.Client()
	if err != nil {
		return document, nil, err
	}
	in, release, err := p.release(ctx, cluster, name)
	if err != nil {
		return document, nil, err
	}
	var asked *v1beta2.Kyma
	if p.in != "" {
		if asked, err = p.target.Kyma(ctx, cluster, p.in); err != nil {
			return document, nil, err
		}
	}
	question := releaseoutlook.Question{
		Hub: cluster, Release: release, Rollout: in.RolloutOf(release.Namespace, release.Name), Channel: channel, Version: version,
		Now: p.now(), Names: shownNames,
	}
	if p.all {
		question.Names = 0
	}
	if question.Settings, err = hubsettings.Read(ctx, cluster, p.files); err != nil {
		return document, nil, err
	}
	place := question.Settings.FindPlace(ctx, cluster, release.Namespace, release.Name)
	question.Loader, err = p.content.LoaderFor(p.console, cluster, place)
	if err != nil {
		return document, nil, err
	}
	defer func() { _ = question.Loader.Close() }() // a folder in the temporary folder is all that could be left
	if document.Outlook, err = releaseoutlook.Look(ctx, question); err != nil {
		return document, nil, p.failed(err)
	}
	for _, failure := range document.Failures {
		p.explain(failure)
	}
	if asked != nil {
		document.DryRun, unanswered = p.ask(ctx, cluster, asked, &question)
	}
	return document, unanswered, ctx.Err()
}

// failed gives an error of package releaseoutlook an exit code and a hint.
func (p *previewing) failed(err error) error {
	var unread *releaseoutlook.UnreadError
	var unknown *releasepreview.UnknownModuleError
	var missing *releaseoutlook.NoTemplateError
	switch {
	case errors.As(err, &unread):
		return unreadable(unread.Unread)
	case errors.As(err, &missing):
		return console.NotFound("%w", err).With("kyma module template REF | kubectl apply -f - brings it")
	case errors.As(err, &unknown):
		return &console.Failure{Code: console.CodeError, Err: err}
	}
	return err
}

// explain says what a user can do about content that cannot be read. It is no failure of the command.
func (p *previewing) explain(err error) {
	if failure, ok := errors.AsType[*console.Failure](p.content.Explain(err)); ok && failure.Hint != "" {
		p.console.Sayf("Warning: %s\nHint: %s", console.OneLine(failure.Error()), failure.Hint)
	}
}

// ask asks the runtime of --dry-run-in.
func (p *previewing) ask(
	ctx context.Context, cluster client.Client, kyma *v1beta2.Kyma, q *releaseoutlook.Question,
) (*releaseoutlook.Answer, error) {
	config, err := p.target.Config()
	if err != nil {
		return nil, err
	}
	template := &v1beta2.ModuleTemplate{}
	key := client.ObjectKey{Namespace: q.Release.Namespace, Name: module.TemplateName(q.Release.Name, q.Version)}
	if err := cluster.Get(ctx, key, template); err != nil {
		return nil, err
	}
	answer, err := releaseoutlook.Ask(ctx, releaseoutlook.Runtime{Hub: cluster, HubConfig: config, Kyma: kyma}, q.Loader, q.Release, template)
	switch {
	case versioncontent.ReasonOf(err) != "":
		return nil, p.content.Explain(err)
	case err != nil:
		return nil, err
	}
	if caveats := versioncontent.Caveats(answer.Caveats); caveats != "" {
		p.console.Sayf("Warning: what is tried in the runtime is %s.", console.OneLine(caveats))
	}
	return &answer, nil
}

// complete completes a module, and then CHANNEL=VERSION.
func (p *previewing) complete(command *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return p.completeReleases(command, args, typed)
	}
	name := args[0][strings.LastIndex(args[0], "/")+1:]
	channel, _, chosen := strings.Cut(typed, "=")
	var words []string
	if !chosen {
		in := p.glance(command.Context(), args[0])
		for i := range in.Releases {
			if in.Releases[i].Name != name {
				continue
			}
			for _, offer := range in.Releases[i].Spec.Channels {
				words = append(words, offer.Channel+"=")
			}
		}
		return words, nothing | cobra.ShellCompDirectiveNoSpace
	}
	for _, version := range p.versions(command.Context(), args[0], name) {
		words = append(words, channel+"="+version)
	}
	return words, nothing
}

// versions returns the versions of a module that have a template, the newest first; none if that cannot be read.
func (p *previewing) versions(ctx context.Context, named, name string) []string {
	cluster, err := p.target.Client()
	if err != nil {
		return nil
	}
	namespace, _, err := p.scope(named)
	if err != nil {
		return nil
	}
	var list v1beta2.ModuleTemplateList
	if err := cluster.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var all []string
	for i := range list.Items {
		if list.Items[i].ModuleName() == name {
			all = append(all, list.Items[i].ModuleVersion())
		}
	}
	return slices.Compact(kymaedit.Newest(all))
}
