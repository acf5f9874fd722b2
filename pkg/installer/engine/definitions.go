package engine

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// definitionPoll is the pause after which a definition is looked at again. It usually takes some tens of milliseconds.
const definitionPoll = 25 * time.Millisecond

// CheckDefinitions returns what the changes of CustomResourceDefinitions break, all of them at once, without the rules of pkg/crdsafety
// that are allowed by name. A definition that is only restored is not compared, and one that is left to a sibling is not changed. Errors
// are *apply.Error.
func CheckDefinitions(
	ctx context.Context, cluster *apply.Cluster, steps []inventory.Step, allowed []string, options apply.Options,
) ([]crdsafety.Finding, error) {
	var broken []crdsafety.Finding
	for _, step := range steps {
		restored := step.Why == inventory.WhyMissing || step.Why == inventory.WhyDrifted
		if step.Entry.GroupKind() != inventory.CRDKind || restored || sharedWithSibling(step.Entry.ID, options) {
			continue
		}
		findings, err := cluster.CheckDefinition(ctx, step.Object)
		if err != nil {
			return nil, err
		}
		broken = append(broken, crdsafety.Refuse(findings, allowed)...)
	}
	return broken, nil
}

func sharedWithSibling(id inventory.ID, options apply.Options) bool {
	if options.Relation == nil || options.Live == nil {
		return false
	}
	live := options.Live(id)
	return live.Presence == inventory.Present && options.Relation(live.Owner) == apply.OwnerSibling
}

// AwaitDefinitions waits for the definitions among the steps of a batch, which has definitions only or none, since what follows needs them.
// It returns the first that is not established within patience; nil when all are.
func AwaitDefinitions(
	ctx context.Context, steps []inventory.Step, patience time.Duration, established func(context.Context, *unstructured.Unstructured) bool,
) *unstructured.Unstructured {
	for _, step := range steps {
		if step.Entry.GroupKind() != inventory.CRDKind {
			return nil
		}
		done := func(ctx context.Context) (bool, error) { return established(ctx, step.Object), nil }
		if wait.PollUntilContextTimeout(ctx, definitionPoll, patience, true, done) != nil {
			return step.Object
		}
	}
	return nil
}
