package target

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// Kymas returns the Kymas that a command for many is about, by namespace and name. It lists them in pages and makes no request for a
// single one. That there are none is an error.
func (t *Target) Kymas(ctx context.Context, reader client.Reader, s *Selection) ([]v1beta2.Kyma, error) {
	filter, err := s.Filter()
	if err != nil {
		return nil, err
	}
	namespace, explicit, err := t.Namespace()
	if err != nil {
		return nil, err
	}
	explicit = explicit && !s.Everywhere
	options := []client.ListOption{client.MatchingLabelsSelector{Selector: filter.Labels}}
	if explicit {
		options = append(options, client.InNamespace(namespace))
	}
	var found []v1beta2.Kyma
	var page v1beta2.KymaList
	_, err = statusreader.Pages(ctx, reader, &page, func() {
		for i := range page.Items {
			if kyma := &page.Items[i]; filter.Matches(kyma) {
				kyma.ManagedFields = nil // half of a Kyma, and no edit needs it
				found = append(found, *kyma)
			}
		}
		page.Items = nil
	}, options...)
	if err = explain(err); err != nil || len(found) > 0 {
		return found, err
	}
	if explicit {
		if err := t.CheckNamespace(ctx, reader); err != nil {
			return nil, err
		}
	}
	return nil, console.NotFound("there is no such Kyma").With("kyma kyma list shows those that there are")
}
