package authorcmd

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// releaseList is the output of release show for programs.
type releaseList struct {
	console.Versioned
	Items []releaseItem `json:"items"`
}

type releaseItem struct {
	Name      string            `json:"name"`
	Component string            `json:"component"`
	Channels  map[string]string `json:"channels"`
	Mandatory string            `json:"mandatory,omitempty"`
}

func (a *author) releaseShow() *cobra.Command {
	var s releaseFlags
	output := console.OutputFlag()
	command := &cobra.Command{
		Use:               "show [NAME]",
		Short:             "Show which version of a module each channel offers",
		Example:           "  kyma release show\n  kyma release show notes -o json\n  kyma release show notes -f release.yaml",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRelease,
		RunE: func(command *cobra.Command, args []string) error {
			metas, err := a.metas(command.Context(), &s, args)
			if err != nil {
				return withExitCode(err)
			}
			return a.printReleases(output.Format, metas)
		},
	}
	command.Flags().StringVarP(&s.file, "file", "f", "", "file with the ModuleReleaseMeta; without it, those in the cluster")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

func (a *author) metas(ctx context.Context, s *releaseFlags, args []string) ([]v1beta2.ModuleReleaseMeta, error) {
	if s.file != "" || len(args) == 1 {
		module := ""
		if len(args) == 1 {
			module = args[0]
		}
		found, err := s.open(ctx, a, module)
		if err != nil {
			return nil, err
		}
		return []v1beta2.ModuleReleaseMeta{*found.meta()}, nil
	}
	reader, err := a.target.Client()
	if err != nil {
		return nil, err
	}
	var list v1beta2.ModuleReleaseMetaList
	var where []client.ListOption
	if namespace, explicit, err := a.target.Namespace(); err != nil {
		return nil, err
	} else if explicit {
		where = append(where, client.InNamespace(namespace))
	}
	err = reader.List(ctx, &list, where...)
	return list.Items, err
}

func (a *author) printReleases(format console.Format, metas []v1beta2.ModuleReleaseMeta) error {
	data := releaseList{Versioned: console.Kind("ReleaseList"), Items: []releaseItem{}}
	document := console.Document{
		Columns: []console.Column{{Name: "MODULE"}, {Name: "CHANNEL"}, {Name: "VERSION"}, {Name: "COMPONENT", Wide: true}},
		Empty:   "No module is released here.",
	}
	for i := range metas {
		spec := &metas[i].Spec
		item := releaseItem{Name: metas[i].Name, Component: spec.OCMComponentName, Channels: map[string]string{}}
		document.Names = append(document.Names, "modulereleasemeta/"+metas[i].Name)
		if spec.Mandatory != nil {
			item.Mandatory = spec.Mandatory.Version
			document.Rows = append(document.Rows, []string{metas[i].Name, "(mandatory)", spec.Mandatory.Version, spec.OCMComponentName})
		}
		for _, channel := range spec.Channels {
			item.Channels[channel.Channel] = channel.Version
			document.Rows = append(document.Rows, []string{metas[i].Name, channel.Channel, channel.Version, spec.OCMComponentName})
		}
		data.Items = append(data.Items, item)
	}
	document.Data = data
	return a.console.Print(format, document)
}

// completeRelease completes the name of a module, then its channels.
func (a *author) completeRelease(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s := releaseFlags{}
	if flag := command.Flags().Lookup("file"); flag != nil {
		s.file = flag.Value.String()
	}
	metas, err := a.metas(command.Context(), &s, args[:min(len(args), 1)])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for i := range metas {
		if len(args) == 0 {
			words = append(words, metas[i].Name)
			continue
		}
		for _, channel := range metas[i].Spec.Channels {
			word := channel.Channel
			if command.Name() == "set" {
				word += "="
			}
			words = append(words, word)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
