package target

import (
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// CompleteKymas completes the names of Kymas, as NAMESPACE/NAME; none where they cannot be listed.
func (t *Target) CompleteKymas(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	cluster, err := t.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var kymas v1beta2.KymaList
	if err := cluster.List(command.Context(), &kymas); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for i := range kymas.Items {
		found = append(found, kymas.Items[i].Namespace+"/"+kymas.Items[i].Name)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
