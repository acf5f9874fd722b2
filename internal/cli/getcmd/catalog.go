package getcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/catalogcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

type offerList struct {
	console.Versioned
	Items  []modulestatus.Offer `json:"items"`
	Unread []unread             `json:"unread,omitempty"`
}

// catalogList returns the command that lists the available modules.
func catalogList(s *show) *cobra.Command {
	from := catalogcmd.NewFrom(s.console, s.target)
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the available modules",
		Example: "  kyma catalog list\n  kyma catalog list -o wide\n  kyma catalog list -o name\n" +
			"  kyma catalog list --from https://kyma-project.github.io/community-modules/all-modules.yaml",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if !from.Given() {
				return s.printOffers(command.Context(), nil)
			}
			in, err := from.Read(command.Context())
			if err != nil {
				return err
			}
			return s.print(offersDocument(&in, modulestatus.Catalog(in)), nil)
		},
	}
	from.AddFlags(command.Flags(), "look into a catalog instead of the cluster: https://HOST/PATH or oci://HOST/PATH:TAG")
	s.outputFlag(command)
	return command
}

// catalogSearch returns the command that searches the available modules for words.
func catalogSearch(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:   "search WORD...",
		Short: "Search the available modules",
		Long: "Search the available modules: every word must be in the name, the description, the component, a link, a version or a kind " +
			"of the module.",
		Example: "  kyma catalog search sample\n" +
			"  kyma catalog search serverless function -o name",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, words []string) error {
			return s.printOffers(command.Context(), words)
		},
	}
	s.outputFlag(command)
	return command
}

func (s *show) printOffers(ctx context.Context, words []string) error {
	in, offers, err := s.offers(ctx)
	if err != nil {
		return err
	}
	document := offersDocument(&in, modulestatus.Search(offers, words...))
	if len(words) > 0 && len(offers) > 0 {
		document.Empty = fmt.Sprintf("None of %d modules has %s in it. kyma catalog list shows them.", len(offers), strings.Join(words, " and "))
	}
	return s.print(document, blind(&in, len(offers), "ModuleTemplate", "ModuleReleaseMeta"))
}

// offers returns the available modules. --namespace limits them to one namespace.
func (s *show) offers(ctx context.Context) (modulestatus.Inputs, []modulestatus.Offer, error) {
	cluster, err := s.target.Client()
	if err != nil {
		return modulestatus.Inputs{}, nil, err
	}
	in, err := s.read(ctx, cluster, statusreader.Scope{})
	if err != nil {
		return in, nil, err
	}
	namespace, explicit, err := s.target.Namespace()
	offers := slices.DeleteFunc(modulestatus.Catalog(in), func(o modulestatus.Offer) bool { return explicit && o.Namespace != namespace })
	if err == nil && len(offers) == 0 {
		err = s.target.CheckNamespace(ctx, cluster)
	}
	return in, offers, err
}

func offersDocument(in *modulestatus.Inputs, offers []modulestatus.Offer) console.Document {
	d := console.Document{
		Data: offerList{Versioned: console.Kind("ModuleOfferList"), Items: append([]modulestatus.Offer{}, offers...), Unread: unreadOf(in)},
		Columns: []console.Column{
			{Name: "MODULE"}, {Name: "TYPE"}, {Name: "CHANNELS"}, {Name: "VERSIONS"}, {Name: "INSTALLED"},
			{Name: "NAMESPACE", Wide: true}, {Name: "COMPONENT", Wide: true}, {Name: "DOCUMENTATION", Wide: true},
			{Name: "DESCRIPTION", Wide: true},
		},
		Empty: "No modules are available here.",
	}
	for i := range offers {
		o := &offers[i]
		d.Names = append(d.Names, "module/"+o.Name)
		d.Rows = append(d.Rows, []string{
			o.Name, string(o.Type), channels(o), strings.Join(versionsOf(o), ", "), instances(o), o.Namespace, o.Component, o.Documentation,
			o.Description,
		})
	}
	return d
}

func channels(o *modulestatus.Offer) string {
	if o.Mandatory != "" {
		return "mandatory " + o.Mandatory
	}
	var all []string
	for _, c := range o.Channels {
		text := c.Channel + " " + c.Version
		if c.Missing {
			text += " (no template)"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func versionsOf(o *modulestatus.Offer) []string {
	var all []string
	for i := range o.Versions {
		text := o.Versions[i].Version
		if o.Versions[i].Beta {
			text += " (beta)"
		}
		all = append(all, text)
	}
	return all
}

// instances returns how often a module is installed, or its version if that is once.
func instances(o *modulestatus.Offer) string {
	switch len(o.Installed) {
	case 0:
		return ""
	case 1:
		return o.Installed[0].Version
	}
	return fmt.Sprintf("%d times", len(o.Installed))
}

// catalogShow returns the command that shows everything about one module.
func catalogShow(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:     "show MODULE",
		Short:   "Show an available module: channels, versions, kinds and links",
		Example: "  kyma catalog show beacon\n  kyma catalog show beacon -o json",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, nothing
			}
			return s.completeOffers(command, args, text)
		},
		RunE: func(command *cobra.Command, args []string) error {
			in, offers, err := s.offers(command.Context())
			if err != nil {
				return err
			}
			if err := blind(&in, len(offers), "ModuleTemplate", "ModuleReleaseMeta"); err != nil {
				return err
			}
			found := slices.DeleteFunc(slices.Clone(offers), func(o modulestatus.Offer) bool { return o.Name != args[0] })
			if len(found) == 0 {
				return notOffered(offers, args[0])
			}
			if f := s.output.Format; f != console.Table {
				return s.console.Print(f, offersDocument(&in, found))
			}
			var text strings.Builder
			for i := range found {
				describe(&text, &found[i])
			}
			_, err = io.WriteString(s.console.Out, text.String())
			return err
		},
	}
	s.outputFlag(command, console.Table, console.JSON, console.YAML, console.Name)
	return command
}

func notOffered(offers []modulestatus.Offer, name string) error {
	var names []string
	for i := range offers {
		names = append(names, offers[i].Name)
	}
	return console.NotFound("there is no module %s", name).Known("modules", kymaedit.Similar(name, names), names)
}

// describe writes everything about an offer.
func describe(to io.Writer, o *modulestatus.Offer) {
	fmt.Fprintf(to, "module/%s (%s)\n", o.Name, o.Type)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(to, "  %-14s %s\n", name, oneLine(text))
		}
	}
	line("description", o.Description)
	line("namespace", o.Namespace)
	line("component", o.Component)
	line("channels", channels(o))
	line("repository", o.Repository)
	line("documentation", o.Documentation)
	if o.Restricted {
		line("restricted", "only Kymas that the release selects may have it")
	}
	for i := range o.Installed {
		installed := &o.Installed[i]
		where := "in this cluster"
		if installed.Kyma != "" {
			where = "in kyma/" + installed.Kyma
		}
		line("installed", strings.TrimSpace(fmt.Sprintf("%s %s (%s)", installed.Version, where, installed.State)))
	}
	for i := range o.Versions {
		describeVersion(to, &o.Versions[i])
	}
}

func describeVersion(to io.Writer, v *modulestatus.OfferVersion) {
	fmt.Fprintf(to, "\n  version %s", v.Version)
	var notes []string
	if len(v.Channels) > 0 {
		notes = append(notes, "in "+strings.Join(v.Channels, ", "))
	}
	for _, trait := range []struct {
		has  bool
		word string
	}{{v.Beta, "beta"}, {v.Internal, "internal"}, {v.RequiresDowntime, "needs downtime"}} {
		if trait.has {
			notes = append(notes, trait.word)
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(to, " (%s)", strings.Join(notes, "; "))
	}
	fmt.Fprintf(to, "\n    %-12s %s\n", "template", v.Template)
	if v.Resource != nil {
		fmt.Fprintf(to, "    %-12s %s\n", "resource", v.Resource.Kind+" "+v.Resource.APIVersion)
	}
	if v.Manager != "" {
		fmt.Fprintf(to, "    %-12s %s\n", "operator", v.Manager)
	}
	for _, one := range v.Requires {
		fmt.Fprintf(to, "    %-12s %s\n", "needs", oneLine(one.String()))
	}
	for _, kind := range v.Associated {
		fmt.Fprintf(to, "    %-12s %s %s/%s\n", "users make", kind.Kind, kind.Group, kind.Version)
	}
	for _, link := range v.Links {
		fmt.Fprintf(to, "    %-12s %s\n", "link", oneLine(link.Name+" "+link.Link))
	}
}
