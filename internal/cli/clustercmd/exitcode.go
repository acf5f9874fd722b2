package clustercmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// create creates an object, unless it exists.
func create(ctx context.Context, c client.Client, object client.Object) error {
	if err := c.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create %T %s: %w", object, object.GetName(), err)
	}
	return nil
}

// sayCluster prints which cluster is changed.
func (h *host) sayCluster() error {
	where, err := h.target.Where()
	if err == nil {
		h.console.Sayf("Cluster: %s", where)
	}
	return err
}

// tell prints the current state of the Kymas of a deployment; clusters maps each to its cluster.
func (h *host) tell(ctx context.Context, hub client.Client, d *deploying, document deploymentDocument, clusters map[string]string) error {
	printed := console.Document{
		Columns: []console.Column{{Name: "KYMA"}, {Name: "CLUSTER"}, {Name: "STATE", State: true}, {Name: "MODULES"}},
	}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		kyma := &v1beta2.Kyma{}
		if err := hub.Get(ctx, client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: name}, kyma); err != nil {
			return err
		}
		one := deployedKyma{
			Namespace: kyma.Namespace, Name: name, Cluster: clusters[name],
			State: cmp.Or(kyma.Status.State, v1beta2.StateProcessing), Modules: kyma.Status.ModulesReady,
		}
		document.Items = append(document.Items, one)
		printed.Rows = append(printed.Rows, []string{one.Namespace + "/" + name, one.Cluster, string(one.State), one.Modules})
		printed.Names = append(printed.Names, "kyma/"+one.Namespace+"/"+name)
	}
	printed.Data = document
	return h.console.Print(d.output.Format, printed)
}
