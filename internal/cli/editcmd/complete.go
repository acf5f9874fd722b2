package editcmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// nothing is the directive that completes no file names.
const nothing = cobra.ShellCompDirectiveNoFileComp

// completeWishes completes available modules, and after "@" and ":" their versions and channels.
func (c *change) completeWishes(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	s, err := c.open(command.Context())
	if err != nil || s.Load(command.Context(), s) != nil {
		return nil, nothing
	}
	var found []string
	name, _, _ := strings.Cut(strings.ReplaceAll(text, "@", ":"), ":")
	for module, offer := range s.Offers {
		switch {
		case offer.Mandatory || slices.Contains(args, module):
		case module != name || text == name:
			found = append(found, module)
		case strings.Contains(text, "@"):
			for _, version := range offer.Versions {
				found = append(found, module+"@"+version)
			}
		default:
			for channel := range offer.Channels {
				found = append(found, module+":"+channel)
			}
		}
	}
	slices.Sort(found)
	return found, nothing | cobra.ShellCompDirectiveNoSpace
}

// completeEnabled completes modules that the Kyma has.
func (c *change) completeEnabled(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.open(command.Context())
	if err != nil {
		return nil, nothing
	}
	var found []string
	for i := range s.Asked.Modules {
		if name := s.Asked.Modules[i].Name; !slices.Contains(args, name) {
			found = append(found, name)
		}
	}
	return found, nothing
}

// completeChannels completes the channels that any module offers.
func (c *change) completeChannels(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.open(command.Context())
	if err != nil || s.Load(command.Context(), s) != nil {
		return nil, nothing
	}
	return channels(s.Offers), nothing
}

// channels returns the channels that any module offers.
func channels(offers map[string]kymaedit.Offer) []string {
	var found []string
	for _, offer := range offers {
		for channel := range offer.Channels {
			found = append(found, channel)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
