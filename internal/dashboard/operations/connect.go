package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// reached is how long the lifecycle manager may take to reach a cluster that it was just given access to.
const reached = 2 * time.Minute

// unreached are the reasons of a Kyma that does not reach its cluster.
var unreached = []string{
	"", v1beta2.ReasonAccessSecretNotFound, v1beta2.ReasonAccessSecretAmbiguous, v1beta2.ReasonKubeconfigInvalid,
	v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonRuntimeUnauthorized, v1beta2.ReasonRuntimeUnreachable, v1beta2.ReasonRuntimeConnecting,
	v1beta2.ReasonRuntimeReplaced, v1beta2.ReasonRuntimeClaimed,
}

// connect plans to store the access Secret of a Kyma. A Kyma whose modules are in the hub itself has none.
func (p *planner) connect(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	made := &plan{way: wayItself}
	switch {
	case modulestatus.IsCopy(s.Kyma):
		return made.refuse(refuse(WhyRefused, "Kyma %s is the copy that a hub keeps here: it is connected on the hub", s.Key())), nil
	case s.Here():
		return made.refuse(refuse(WhyRefused, "the modules of Kyma %s are in this cluster: it needs no kubeconfig", s.Key())), nil
	}
	if !p.deed.Kubeconfig.isKept() {
		return made.refuse(refuse(WhyInvalid, "the kubeconfig is empty: paste it, or upload it")), nil
	}
	steps, refused, err := p.storing(ctx, s, made)
	if err != nil || refused != nil {
		return made.refuse(refused), err
	}
	made.why = "the lifecycle manager uses this kubeconfig from then on; it is kept in the access Secret of the Kyma alone, and is not " +
		"shown again"
	if kymaedit.IsSuspended(s.Kyma) {
		made.warnings = append(made.warnings, "the Kyma is suspended: the lifecycle manager uses it when the Kyma is resumed")
		made.steps = steps
		return made, nil
	}
	made.steps = slices.Concat(steps, []step{{title: "Wait until the lifecycle manager reaches the cluster", do: s.awaitAccess}})
	return made, nil
}

// storing returns the step that stores the kubeconfig of the request, which must lead to a cluster that answers, is not the hub's, and is
// the one that the Kyma had before. An operation that is resumed has no kubeconfig any more: where the Secret is there, nothing is left to
// do.
func (p *planner) storing(ctx context.Context, s *hubContext, made *plan) (steps []step, refused, err error) {
	if !p.deed.Kubeconfig.isKept() {
		secrets, err := runtimeaccess.Secrets(ctx, s, s.Key())
		if err == nil && len(secrets) != 1 {
			refused = refuse(WhyInvalid, "the kubeconfig is empty, or was not kept: send it")
		}
		return nil, refused, err
	}
	// A preview calls the server that the kubeconfig names, too: not for users who could not have it called by storing it.
	if err := p.as.needs(ctx, p.deed, p.deed.Title()); err != nil {
		if ReasonOf(err) == "" {
			return nil, nil, err
		}
		return nil, err, nil
	}
	kubeconfig, config, err := runtimeaccess.Parse(ctx, []byte(p.deed.Kubeconfig.text))
	if err != nil {
		return nil, refuse(WhyInvalid, "%s", err), nil
	}
	identity, err := runtimeaccess.Identify(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, refuse(WhyRefused, "%s", runtimeaccess.Explain(err)), nil
	}
	var own corev1.Namespace
	err = s.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &own)
	switch known := s.Kyma.Status.RuntimeID; {
	case err == nil && own.UID == identity:
		return nil, refuse(WhyRefused, "the kubeconfig leads to this very cluster, and not to one of the Kyma's own"), nil
	case known != "" && string(identity) != known:
		return nil, refuse(WhyRefused, "the kubeconfig leads to another cluster than the one that Kyma %s has: nothing is changed", s.Key()), nil
	case known != "":
		made.warnings = append(made.warnings, "the kubeconfig leads to the cluster that the Kyma has: it takes the place of the stored one")
	}
	return []step{s.secretStep(kubeconfig)}, nil, nil
}

// secretStep returns the step that writes the access Secret. What it shows has no value.
func (s *hubContext) secretStep(kubeconfig []byte) step {
	write := func(ctx context.Context, dry bool) ([]Change, error) {
		how := runtimeaccess.Writing{Manager: kymaedit.FieldManager, DryRun: dry}
		stored, err := runtimeaccess.Store(ctx, s, s.Key(), kubeconfig, how)
		if err != nil {
			return nil, s.unstored(err)
		}
		made := Change{
			Object: modulestatus.Ref{APIVersion: "v1", Kind: "Secret", Namespace: stored.Secret.Namespace, Name: stored.Secret.Name},
			Change: apply.ChangeUnchanged, Fields: []Field{},
		}
		switch {
		case stored.Created:
			made.Change = apply.ChangeCreate
		case stored.Changed:
			made.Change = apply.ChangeUpdate
		}
		return []Change{made}, nil
	}
	return step{
		title: "Store the access Secret",
		try:   func(ctx context.Context) ([]Change, error) { return write(ctx, true) },
		do: func(ctx context.Context, r *reporter) error {
			changes, err := write(ctx, false)
			if err == nil {
				r.object(changes[0].Object, string(changes[0].Change), "")
			}
			return err
		},
	}
}

// unstored gives an error of a Secret a reason of this package, and repeats nothing of the Secret.
func (s *hubContext) unstored(err error) error {
	var ambiguous *runtimeaccess.AmbiguousError
	var taken *runtimeaccess.TakenError
	switch {
	case errors.As(err, &ambiguous), errors.As(err, &taken):
		return refuse(WhyRefused, "%s", err)
	case apierrors.IsNotFound(err):
		return refuse(WhyNotFound, "there is no namespace %s", s.Kyma.Namespace)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not write Secrets in namespace %s: %w", s.Kyma.Namespace, err)
	case apierrors.IsInvalid(err):
		return refuse(WhyRefused, "the cluster refuses the Secret")
	}
	return err
}

// awaitAccess waits until the Kyma says that its cluster is reached, or why it is not.
func (s *hubContext) awaitAccess(ctx context.Context, r *reporter) error {
	ctx, done := context.WithTimeout(ctx, reached)
	defer done()
	reason, message := "", ""
	err := s.follow(ctx, func(kyma *v1beta2.Kyma) (bool, error) {
		if kyma == nil {
			return false, refuse(WhyNotFound, "the Kyma %s is gone", s.Key())
		}
		reason, message = "", "the lifecycle manager has not looked at it yet"
		if ready := meta.FindStatusCondition(kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil {
			reason, message = ready.Reason, ready.Message
		}
		r.object(kymaRef(kyma), string(modulestatus.KymaState(kyma)), message)
		return kyma.Status.RuntimeID != "" && !slices.Contains(unreached, reason), nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return refuse(WhyRefused, "the lifecycle manager has not reached the cluster after %s: %s", reached, message)
	}
	return err
}

// follow reports the Kyma now and after every change, nil when it is gone, until that is enough.
func (s *hubContext) follow(ctx context.Context, enough func(*v1beta2.Kyma) (bool, error)) error {
	only := []client.ListOption{client.InNamespace(s.Kyma.Namespace), client.MatchingFields{"metadata.name": s.Kyma.Name}}
	watched := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := &v1beta2.KymaList{}
			return list, s.List(ctx, list, append(only, &client.ListOptions{Raw: &options})...)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return s.Watch(ctx, &v1beta2.KymaList{}, append(only, &client.ListOptions{Raw: &options})...)
		},
	}
	seen := func(event watch.Event) (bool, error) {
		kyma, is := event.Object.(*v1beta2.Kyma)
		if !is {
			return false, nil
		}
		if event.Type == watch.Deleted {
			kyma = nil
		}
		return enough(kyma)
	}
	none := func(store cache.Store) (bool, error) {
		if len(store.List()) > 0 {
			return false, nil // the event that follows tells
		}
		return enough(nil)
	}
	_, err := watchtools.UntilWithSync(ctx, watched, &v1beta2.Kyma{}, none, seen)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
