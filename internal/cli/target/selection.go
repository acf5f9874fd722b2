package target

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Selection is which of many Kymas a command is about, as its flags say. They are the same for all commands.
type Selection struct {
	// All is flag --all-kymas, and Everywhere --all-namespaces.
	All, Everywhere bool

	labels  string
	states  []string
	channel string
	modules []string
}

// kymaStates are the values of --state.
var kymaStates = []string{
	string(v1beta2.StateReady), string(v1beta2.StateProcessing), string(v1beta2.StateWarning), string(v1beta2.StateError),
	string(v1beta2.StateDeleting), string(v1beta2.StateUnmanaged),
}

// AddFilters adds the flags that limit the Kymas, for commands that are about all of them otherwise.
func (s *Selection) AddFilters(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&s.labels, "selector", "l", "", "Kymas with these labels, such as ring=canary")
	flags.StringSliceVar(&s.states, "state", nil, "Kymas in one of these states, such as Error,Warning")
	flags.StringVar(&s.channel, "on-channel", "", "Kymas that follow this channel")
	flags.StringSliceVar(&s.modules, "with-module", nil,
		"Kymas that have these modules; NAME:CHANNEL means one that follows that channel, NAME@VERSION one that is installed in that version")
	_ = command.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(kymaStates, cobra.ShellCompDirectiveNoFileComp))
}

// AddFlags adds the flags for commands that are about one Kyma otherwise.
func (s *Selection) AddFlags(command *cobra.Command) {
	s.AddFilters(command)
	flags := command.Flags()
	flags.BoolVar(&s.All, "all-kymas", false, "all Kymas: of the namespace of --namespace, or of all namespaces")
	flags.BoolVarP(&s.Everywhere, "all-namespaces", "A", false, "with one of these: of all namespaces, regardless of --namespace")
}

// Given reports whether the command is about many Kymas.
func (s *Selection) Given() bool {
	return s.All || s.labels != "" || len(s.states) > 0 || s.channel != "" || len(s.modules) > 0
}

// Filter is a Selection whose flags were checked.
type Filter struct {
	// Labels are those that a Kyma must have; everything if there are none.
	Labels labels.Selector

	states  []string
	channel string
	modules []kymaedit.ModuleRequest
}

// Filter returns what the flags select.
func (s *Selection) Filter() (*Filter, error) {
	filter := &Filter{channel: s.channel}
	var err error
	if filter.Labels, err = labels.Parse(s.labels); err != nil {
		return nil, console.Usage("--selector: %w", err)
	}
	for _, state := range s.states {
		at := slices.IndexFunc(kymaStates, func(known string) bool { return strings.EqualFold(known, state) })
		if at < 0 {
			return nil, console.Usage("--state=%s is unknown", state).With("use some of %s", strings.Join(kymaStates, ", "))
		}
		filter.states = append(filter.states, kymaStates[at])
	}
	if s.channel != "" && !kymaedit.IsChannel(s.channel) {
		return nil, console.Usage("--on-channel=%s is not a channel", s.channel).
			With("a channel is 3 to 32 lower-case letters, such as regular")
	}
	for _, text := range s.modules {
		module, err := kymaedit.ParseWish(text)
		if err != nil {
			return nil, console.Usage("--with-module: %w", err)
		}
		filter.modules = append(filter.modules, module)
	}
	return filter, nil
}

// Matches reports whether a Kyma is selected. Its labels are the API server's to compare.
func (f *Filter) Matches(kyma *v1beta2.Kyma) bool {
	if len(f.states) > 0 && !slices.Contains(f.states, string(modulestatus.KymaState(kyma))) {
		return false
	}
	if f.channel == "" && len(f.modules) == 0 {
		return true
	}
	s := kymaedit.StandOf(kyma)
	own := cmp.Or(s.Asked.Channel, v1beta2.DefaultChannel)
	if f.channel != "" && f.channel != own {
		return false
	}
	return !slices.ContainsFunc(f.modules, func(wanted kymaedit.ModuleRequest) bool {
		entry := kymaedit.Entry(&s.Asked, wanted.Name)
		switch {
		case entry == nil:
			return true
		case wanted.Version != "":
			return s.InstalledVersion(wanted.Name) != wanted.Version
		case wanted.Channel != "":
			return entry.Version != "" || cmp.Or(entry.Channel, own) != wanted.Channel
		}
		return false
	})
}
