package editcmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// marked is one call of a command that marks a Kyma or Manifests for the lifecycle manager.
type marked struct {
	*change
	all bool
	// mark changes an object, and reports whether it did.
	mark func(client.Object) bool
	// did is what was done to the object, in a word; verb, doing and title are what is to be done, in texts about many Kymas, and idle is why
	// there is nothing to do.
	did, verb, doing, title, idle string
}

// reconciled is what kyma reconcile did.
const reconciled = "asked to reconcile"

func suspend(c *change) *cobra.Command {
	m := &marked{change: c, did: "suspended", verb: "suspend", doing: "suspending", title: "Suspend", idle: "is suspended already"}
	m.mark = func(o client.Object) bool { return kymaedit.Suspend(o, true) }
	command := &cobra.Command{
		Use:   "suspend [NAME...]",
		Short: "Let the lifecycle manager leave modules, or a whole Kyma, alone for a while",
		Long: "Suspended modules stay as they are: they are neither upgraded nor repaired until kyma resume. It is for the cluster of the\n" +
			"lifecycle manager; the user of a runtime has kyma unmanage.",
		Example: "  kyma suspend notes\n  kyma suspend --all --kyma kcp-system/demo\n  kyma suspend notes --state Error,Warning",
		RunE:    func(command *cobra.Command, args []string) error { return m.run(command.Context(), args) },
	}
	m.prepare(command, false)
	return command
}

func resume(c *change) *cobra.Command {
	m := &marked{change: c, did: "resumed", verb: "resume", doing: "resuming", title: "Resume", idle: "is not suspended"}
	m.mark = func(o client.Object) bool { return kymaedit.Suspend(o, false) }
	command := &cobra.Command{
		Use:     "resume [NAME...]",
		Short:   "Resume the management of suspended modules",
		Example: "  kyma resume notes\n  kyma resume --all --wait=false\n  kyma resume --all --all-kymas",
		RunE:    func(command *cobra.Command, args []string) error { return m.run(command.Context(), args) },
	}
	m.prepare(command, true)
	return command
}

// labelReconcile triggers the lifecycle manager by a new value.
const labelReconcile = "cli.kyma-project.io/reconcile-requested"

func reconcile(c *change) *cobra.Command {
	m := &marked{change: c, did: reconciled, verb: "reconcile", doing: "reconciling", title: "Reconcile"}
	m.mark = func(o client.Object) bool {
		return setLabel(o, labelReconcile, strconv.FormatInt(time.Now().UnixNano(), 10))
	}
	command := &cobra.Command{
		Use:   "reconcile [NAME...]",
		Short: "Reconcile modules, or a whole Kyma, now",
		Long: "Changes trigger the lifecycle manager by themselves, also in the cluster of a module. This triggers it without a change, and\n" +
			"waits for the result. What failed a moment ago, such as a registry, is tried again at its own pace, within minutes.",
		Example: "  kyma reconcile notes\n  kyma reconcile --all --timeout 2m\n  kyma reconcile --all --state Error",
		RunE:    func(command *cobra.Command, args []string) error { return m.run(command.Context(), args) },
	}
	m.prepare(command, true)
	return command
}

func (m *marked) prepare(command *cobra.Command, waits bool) {
	command.Args = names(0, -1, "NAME")
	command.ValidArgsFunction = m.completeEnabled
	m.kymaFlag(command)
	m.dryRunFlag(command.Flags())
	m.outputFlag(command.Flags())
	m.timeout, m.again = time.Minute, true
	if waits {
		m.waitFlags(command.Flags())
	}
	m.bulkFlag(command)
	command.Flags().BoolVar(&m.all, "all", false, "the whole Kyma, or all of each selected one")
}

func (m *marked) run(ctx context.Context, args []string) error {
	if m.all == (len(args) > 0) {
		return console.Usage("no module is named").With("name some, or use --all for the whole Kyma")
	}
	many, err := m.many()
	switch {
	case err != nil:
		return err
	case many:
		return m.runBulk(ctx, args)
	}
	s, err := m.open(ctx)
	if err != nil {
		return err
	}
	if modulestatus.IsCopy(s.Kyma) && (len(args) > 0 || m.did != reconciled) {
		return console.Usage("Kyma %s is the one that the user of a runtime edits: this is for the cluster of the lifecycle manager", s.Key()).
			With("kyma unmanage stops managing a module here")
	}
	if m.all {
		return m.whole(ctx, s)
	}
	return m.modules(ctx, s, args)
}

// whole marks the Kyma.
func (m *marked) whole(ctx context.Context, s *session) error {
	changed := false
	result, err := kymaedit.Apply(ctx, s.WithWatch, s.Key(), func(kyma *v1beta2.Kyma) error {
		changed = m.mark(kyma)
		return nil
	}, kymaedit.Options{DryRun: kymaedit.DryRun(m.dryRun)})
	if err != nil {
		return refusal(err, s.Key().String())
	}
	if err := m.print([]item{m.row("kyma/"+s.Key().String(), s, changed)}); err != nil {
		return err
	}
	if !m.wait || m.dry() {
		return nil
	}
	return m.awaitKyma(ctx, s, result.After.Generation)
}

// modules marks the Manifests of modules.
func (m *marked) modules(ctx context.Context, s *session, args []string) error {
	byModule, err := s.manifests(ctx)
	if err != nil {
		return err
	}
	var items []item
	var wants []waitfor.Expectation
	for _, name := range args {
		manifest := byModule[name]
		if manifest == nil {
			return m.unmarked(ctx, s, name)
		}
		changed, err := m.patch(ctx, s, manifest)
		if err != nil {
			return err
		}
		items = append(items, m.row("module/"+name, s, changed))
		wants = append(wants, waitfor.Expectation{Module: name})
	}
	if err := m.print(items); err != nil {
		return err
	}
	return m.follow(ctx, s, s.Kyma, wants)
}

// manifests returns the Manifests of the Kyma by module.
func (s *session) manifests(ctx context.Context) (map[string]*v1beta2.Manifest, error) {
	var manifests v1beta2.ManifestList
	err := s.List(ctx, &manifests, client.InNamespace(s.Kyma.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: s.Kyma.Name})
	if err != nil && !meta.IsNoMatchError(err) {
		return nil, err
	}
	byModule := map[string]*v1beta2.Manifest{}
	for i := range manifests.Items {
		if module.KymaName(&manifests.Items[i]) != s.Kyma.Name {
			continue // it belongs to no Kyma, and only goes to the same cluster
		}
		byModule[manifests.Items[i].Labels[v1beta2.LabelModuleName]] = &manifests.Items[i]
	}
	return byModule, nil
}

// unmarked returns the error for a module without anything to mark.
func (m *marked) unmarked(ctx context.Context, s *session, name string) error {
	if !s.Has(name) {
		return m.absent(s, name, slices.Contains(m.directThere(ctx, s), name))
	}
	return console.NotFound("module %s of Kyma %s has no Manifest yet", name, s.Key()).With("kyma status %s shows why", name)
}

// patch marks one Manifest, without reading it again: the label conflicts with no other change.
func (m *marked) patch(ctx context.Context, s *session, manifest *v1beta2.Manifest) (bool, error) {
	before := manifest.DeepCopy()
	if !m.mark(manifest) {
		return false, nil
	}
	options := []client.PatchOption{client.FieldOwner(kymaedit.FieldManager)}
	switch kymaedit.DryRun(m.dryRun) {
	case kymaedit.DryRunClient:
		return true, nil
	case kymaedit.DryRunServer:
		options = append(options, client.DryRunAll)
	case kymaedit.DryRunNone, "":
	}
	if err := s.Patch(ctx, manifest, client.MergeFrom(before), options...); err != nil {
		return false, fmt.Errorf("manifest %s: %w", client.ObjectKeyFromObject(manifest), err)
	}
	return true, nil
}

func (m *marked) row(name string, s *session, changed bool) item {
	i := item{Name: name, Kyma: s.Key().String(), Action: kymaedit.Unchanged}
	if changed {
		i.Action = kymaedit.Action(m.did)
	}
	if changed && m.dry() {
		i.DryRun = m.dryRun
	}
	return i
}

// setLabel sets a label on an object, and reports whether it was different before.
func setLabel(object client.Object, name, value string) bool {
	labels := object.GetLabels()
	if labels[name] == value {
		return false
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels[name] = value
	object.SetLabels(labels)
	return true
}
