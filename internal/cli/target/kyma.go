package target

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// Kyma returns the Kyma that a command is about:
//
//  1. if a name is given as NAMESPACE/NAME, that Kyma
//  2. if a name is given, the Kyma of that name in the namespace of --namespace, or the only one of that name in the cluster
//  3. if none is given, the only Kyma there is (in the namespace of --namespace, if that is set)
//
// Anything else is an error that lists the candidates. The cost is one request.
func (t *Target) Kyma(ctx context.Context, reader client.Reader, name string) (*v1beta2.Kyma, error) {
	namespace, explicit, err := t.Namespace()
	if err != nil {
		return nil, err
	}
	if before, after, cut := strings.Cut(name, "/"); cut {
		namespace, explicit, name = before, true, after
	}
	if name != "" && explicit {
		kyma := &v1beta2.Kyma{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, kyma)
		if apierrors.IsNotFound(err) {
			return nil, console.NotFound("there is no Kyma %s/%s", namespace, name).With("kyma kyma list shows those that there are")
		}
		return kyma, explain(err)
	}
	var kymas v1beta2.KymaList
	var options []client.ListOption
	if explicit {
		options = append(options, client.InNamespace(namespace))
	}
	if err := explain(reader.List(ctx, &kymas, options...)); err != nil {
		return nil, err
	}
	candidates := slices.DeleteFunc(kymas.Items, func(k v1beta2.Kyma) bool { return name != "" && k.Name != name })
	if len(candidates) == 0 && explicit {
		if err := t.CheckNamespace(ctx, reader); err != nil {
			return nil, err
		}
		return nil, console.NotFound("there is no Kyma in namespace %s", namespace).With("kyma kyma list -A shows those of all namespaces")
	}
	return only(candidates, name)
}

// only returns the single candidate.
func only(candidates []v1beta2.Kyma, name string) (*v1beta2.Kyma, error) {
	switch {
	case len(candidates) == 1:
		return &candidates[0], nil
	case len(candidates) == 0 && name != "":
		return nil, console.NotFound("there is no Kyma %s", name).With("kyma kyma list shows those that there are")
	case len(candidates) == 0:
		return nil, console.NotFound("there is no Kyma in this cluster").With("kyma kyma create makes one")
	}
	var names []string
	for i := range candidates {
		names = append(names, candidates[i].Namespace+"/"+candidates[i].Name)
	}
	slices.Sort(names)
	shown := names[:min(len(names), 10)]
	return nil, console.Usage("there are %d Kymas, and none is named: %s", len(names), strings.Join(shown, ", ")).
		With("use --kyma NAMESPACE/NAME")
}

// explain turns the error of a cluster without our kinds into a sentence with a hint.
func explain(err error) error {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return console.NotFound("this cluster has no Kymas: the lifecycle manager is not installed").
			With("kyma install puts it there; kyma add --community installs modules without it")
	}
	return err
}
