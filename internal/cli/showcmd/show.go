package showcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/gather"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// show is one call of a command that shows something: its flags, and what it speaks with.
type show struct {
	console *console.Console
	target  *target.Target

	kyma        string
	everywhere  bool
	prereleases bool
	watch       bool
	output      *console.Formats
}

// flags adds those that most commands have.
func (s *show) flags(command *cobra.Command, formats ...console.Format) {
	flags := command.Flags()
	flags.StringVar(&s.kyma, "kyma", "", "only the modules of this Kyma, as NAMESPACE/NAME or NAME")
	flags.BoolVarP(&s.everywhere, "all-namespaces", "A", false, "the Kymas of all namespaces, whatever --namespace says")
	_ = command.RegisterFlagCompletionFunc("kyma", s.completeKymas)
	s.outputFlag(command, formats...)
}

func (s *show) outputFlag(command *cobra.Command, formats ...console.Format) {
	s.output = console.OutputFlag(formats...)
	command.Flags().VarP(s.output, "output", "o", "how to write it: "+s.output.Words())
}

func (s *show) prereleaseFlag(command *cobra.Command) {
	command.Flags().BoolVar(&s.prereleases, "prereleases", false, "count versions such as 1.2.0-rc as available, too")
}

func (s *show) watchFlag(command *cobra.Command) {
	command.Flags().BoolVarP(&s.watch, "watch", "w", false, "go on, and show it anew when something changes")
}

// scope is how much the flags ask for.
func (s *show) scope(ctx context.Context, from client.Reader) (gather.Scope, error) {
	scope := gather.Scope{Prereleases: s.prereleases}
	switch namespace, name, cut := strings.Cut(s.kyma, "/"); {
	case cut:
		scope.Kyma = &types.NamespacedName{Namespace: namespace, Name: name}
	case s.kyma != "":
		kyma, err := s.target.Kyma(ctx, from, s.kyma)
		if err != nil {
			return scope, err
		}
		scope.Kyma = &types.NamespacedName{Namespace: kyma.Namespace, Name: kyma.Name}
	case !s.everywhere:
		namespace, explicit, err := s.target.Namespace()
		if err != nil {
			return scope, err
		}
		if explicit {
			scope.Namespace = namespace
		}
	}
	return scope, nil
}

// gather reads what the flags ask for. What could not be read is said.
func (s *show) gather(ctx context.Context) (view.Inputs, error) {
	cluster, err := s.target.Client()
	if err != nil {
		return view.Inputs{}, err
	}
	scope, err := s.scope(ctx, cluster)
	if err != nil {
		return view.Inputs{}, err
	}
	return s.read(ctx, cluster, scope)
}

func (s *show) read(ctx context.Context, from client.Reader, scope gather.Scope) (view.Inputs, error) {
	in, err := gather.Gather(ctx, from, scope)
	if err != nil {
		if ctx.Err() != nil {
			return in, ctx.Err()
		}
		return in, fmt.Errorf("the cluster cannot be read: %w", err)
	}
	if scope.Kyma != nil && !scope.CatalogOnly && len(in.Kymas) == 0 && !unreadKind(&in, "Kyma") {
		return in, console.NotFound("there is no Kyma %s", scope.Kyma).With("kyma kyma list shows those that there are")
	}
	if scope.Namespace != "" && len(in.Kymas) == 0 && len(in.Manifests) == 0 {
		if err := s.target.CheckNamespace(ctx, from); err != nil {
			return in, err
		}
	}
	s.warn(&in)
	return in, nil
}

// modules are those that the flags ask for: with --kyma only those of that Kyma.
func (s *show) modules(in *view.Inputs) []view.Module {
	return slices.DeleteFunc(view.Modules(*in), func(m view.Module) bool { return s.kyma != "" && m.Kyma == "" })
}

// tree is that of the modules that the flags ask for.
func (s *show) tree(in *view.Inputs, names []string) []view.Node {
	return slices.DeleteFunc(view.Tree(*in, names...), func(n view.Node) bool { return s.kyma != "" && n.Kind == view.KindModule })
}

// warn says what could not be read: what is shown is not everything.
func (s *show) warn(in *view.Inputs) {
	for _, text := range unreadTexts(in) {
		s.console.Sayf("Warning: %s", text)
	}
}

func unreadTexts(in *view.Inputs) []string {
	var all []string
	for _, u := range in.Unread {
		all = append(all, u.Message())
	}
	slices.Sort(all)
	return all
}

// unread are the kinds that could not be read, as documents have them.
type unread struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

func unreadOf(in *view.Inputs) []unread {
	var all []unread
	for _, u := range in.Unread {
		all = append(all, unread{Kind: u.GroupKind.String(), Namespace: u.Namespace, Reason: u.Reason(), Message: u.Message()})
	}
	slices.SortFunc(all, func(a, b unread) int { return strings.Compare(a.Kind+a.Namespace, b.Kind+b.Namespace) })
	return all
}

func unreadKind(in *view.Inputs, kind string) bool {
	return slices.ContainsFunc(in.Unread, func(u view.Unread) bool { return u.Kind == kind })
}

// blind is an error when nothing is shown because nothing could be read: nobody is to take that for "there is none".
func blind(in *view.Inputs, shown int, kinds ...string) error {
	for _, kind := range kinds {
		if shown == 0 && unreadKind(in, kind) {
			return errors.New("nothing can be shown: what there is cannot be read")
		}
	}
	return nil
}

// print writes a document. A blind one is written for programs only, which find there what could not be read.
func (s *show) print(d console.Document, blind error) error {
	if blind != nil && s.output.Format != console.JSON && s.output.Format != console.YAML {
		return blind
	}
	if err := s.console.Print(s.output.Format, d); err != nil {
		return err
	}
	return blind
}

// nothing completes nothing, and offers no files either.
const nothing = cobra.ShellCompDirectiveNoFileComp

// completeKymas completes the names of Kymas.
func (s *show) completeKymas(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, kyma := range view.Kymas(s.glance(command.Context())) {
		names = append(names, kyma.Namespace+"/"+kyma.Name)
	}
	return names, nothing
}

// completeModules completes the names of modules that are in a Kyma or installed.
func (s *show) completeModules(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, m := range view.Modules(s.glance(command.Context())) {
		if !slices.Contains(args, m.Name) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nothing
}

// completeOffers completes the names of modules that can be had.
func (s *show) completeOffers(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, offer := range view.Catalog(s.glance(command.Context())) {
		if !slices.Contains(args, offer.Name) {
			names = append(names, offer.Name)
		}
	}
	return slices.Compact(names), nothing
}

// glance reads what completion needs, and nothing where that fails.
func (s *show) glance(ctx context.Context) view.Inputs {
	cluster, err := s.target.Client()
	if err != nil {
		return view.Inputs{}
	}
	in, err := gather.Gather(ctx, cluster, gather.Scope{Shallow: true})
	if err != nil {
		return view.Inputs{}
	}
	return in
}
