package getcmd

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
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// show is one call of a command that shows something: its flags, console and target.
type show struct {
	console *console.Console
	target  *target.Target

	kyma string
	// selection limits the Kymas, where a command has its flags.
	selection   target.Selection
	everywhere  bool
	prereleases bool
	watch       bool
	output      *console.Formats
}

// flags adds the flags that most commands have.
func (s *show) flags(command *cobra.Command, formats ...console.Format) {
	flags := command.Flags()
	flags.StringVar(&s.kyma, "kyma", "", "only the modules of this Kyma, as NAMESPACE/NAME or NAME")
	flags.BoolVarP(&s.everywhere, "all-namespaces", "A", false, "the Kymas of all namespaces, regardless of --namespace")
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
	command.Flags().BoolVarP(&s.watch, "watch", "w", false, "keep watching, and print it again on every change")
}

// scope returns the scope that the flags select.
func (s *show) scope(ctx context.Context, from client.Reader) (statusreader.Scope, error) {
	scope := statusreader.Scope{Prereleases: s.prereleases}
	if s.selection.Given() {
		filter, err := s.selection.Filter()
		if err != nil {
			return scope, err
		}
		if s.kyma != "" {
			return scope, console.Usage("--kyma and the flags that select many Kymas exclude each other")
		}
		scope.Match, scope.Labels = filter.Matches, filter.Labels
	}
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

// readInputs reads what the flags select, and warns of what could not be read.
func (s *show) readInputs(ctx context.Context) (modulestatus.Inputs, error) {
	cluster, err := s.target.Client()
	if err != nil {
		return modulestatus.Inputs{}, err
	}
	scope, err := s.scope(ctx, cluster)
	if err != nil {
		return modulestatus.Inputs{}, err
	}
	return s.read(ctx, cluster, scope)
}

func (s *show) read(ctx context.Context, from client.Reader, scope statusreader.Scope) (modulestatus.Inputs, error) {
	in, err := statusreader.Read(ctx, from, scope)
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

// modules returns the modules that the flags select: those of Kymas alone, where they name Kymas.
func (s *show) modules(in *modulestatus.Inputs) []modulestatus.Module {
	ofKymas := s.kyma != "" || s.selection.Given()
	return slices.DeleteFunc(modulestatus.Modules(*in), func(m modulestatus.Module) bool { return ofKymas && m.Kyma == "" })
}

// tree returns the tree of the modules that the flags select.
func (s *show) tree(in *modulestatus.Inputs, names []string) []modulestatus.Node {
	return slices.DeleteFunc(modulestatus.Tree(*in, names...), func(n modulestatus.Node) bool {
		return s.kyma != "" && n.Kind == modulestatus.KindModule
	})
}

// warn prints what could not be read: the output is incomplete.
func (s *show) warn(in *modulestatus.Inputs) {
	for _, text := range unreadTexts(in) {
		s.console.Sayf("Warning: %s", text)
	}
}

func unreadTexts(in *modulestatus.Inputs) []string {
	var all []string
	for _, u := range in.Unread {
		all = append(all, u.Message())
	}
	slices.Sort(all)
	return all
}

// unread is a kind that could not be read, as documents contain it.
type unread struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

func unreadOf(in *modulestatus.Inputs) []unread {
	var all []unread
	for _, u := range in.Unread {
		all = append(all, unread{Kind: u.GroupKind.String(), Namespace: u.Namespace, Reason: u.Reason(), Message: u.Message()})
	}
	slices.SortFunc(all, func(a, b unread) int { return strings.Compare(a.Kind+a.Namespace, b.Kind+b.Namespace) })
	return all
}

func unreadKind(in *modulestatus.Inputs, kind string) bool {
	return slices.ContainsFunc(in.Unread, func(u modulestatus.Unread) bool { return u.Kind == kind })
}

// blind returns an error if nothing is shown because nothing could be read, so that this is not mistaken for "there is none".
func blind(in *modulestatus.Inputs, shown int, kinds ...string) error {
	for _, kind := range kinds {
		if shown == 0 && unreadKind(in, kind) {
			return errors.New("nothing can be shown: what there is cannot be read")
		}
	}
	return nil
}

// print writes a document. With a blind error it writes only formats for programs, which then find in it what could not be read.
func (s *show) print(d console.Document, blind error) error {
	if blind != nil && s.output.Format != console.JSON && s.output.Format != console.YAML {
		return blind
	}
	if err := s.console.Print(s.output.Format, d); err != nil {
		return err
	}
	return blind
}

// nothing is the directive that completes no file names.
const nothing = cobra.ShellCompDirectiveNoFileComp

// completeKymas completes the names of Kymas.
func (s *show) completeKymas(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, kyma := range modulestatus.Kymas(s.glance(command.Context())) {
		names = append(names, kyma.Namespace+"/"+kyma.Name)
	}
	return names, nothing
}

// completeModules completes the names of modules that are in a Kyma or installed.
func (s *show) completeModules(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, m := range modulestatus.Modules(s.glance(command.Context())) {
		if !slices.Contains(args, m.Name) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nothing
}

// completeOffers completes the names of modules that are available.
func (s *show) completeOffers(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, offer := range modulestatus.Catalog(s.glance(command.Context())) {
		if !slices.Contains(args, offer.Name) {
			names = append(names, offer.Name)
		}
	}
	return slices.Compact(names), nothing
}

// glance reads what completion needs, and returns nothing if that fails.
func (s *show) glance(ctx context.Context) modulestatus.Inputs {
	cluster, err := s.target.Client()
	if err != nil {
		return modulestatus.Inputs{}
	}
	in, err := statusreader.Read(ctx, cluster, statusreader.Scope{Shallow: true})
	if err != nil {
		return modulestatus.Inputs{}
	}
	return in
}
