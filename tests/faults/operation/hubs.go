package operation

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// otherHub is the identity of a hub that no rig has.
const otherHub = "5b1d7c0e-0000-4000-8000-00000000a0b1"

// Span is a part of a server's calls: those after From, and up to To where that is not zero.
type Span struct{ From, To uint64 }

// Has reports whether a call is in the span; a nil span has none.
func (s *Span) Has(call uint64) bool { return s != nil && call > s.From && (s.To == 0 || call <= s.To) }

// claimed returns the namespace of the runtime that carries the claim, with only its name.
func claimed() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}}
}

// claimForAnother claims the runtime as another hub does that takes it over.
func claimForAnother(ctx context.Context, s *Scenario) error {
	return edit(ctx, s.Home, claimed(), func(namespace *corev1.Namespace) {
		metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, v1beta2.AnnotationHub, otherHub)
	})
}

// refused is nil once the Kyma and all its Manifests say that another hub has the runtime.
func refused(ctx context.Context, s *Scenario) error {
	kyma, err := s.Live(ctx)
	if err != nil {
		return err
	}
	if !saysClaimed(kyma.Status.Conditions) {
		return fmt.Errorf("the Kyma does not say that another hub has its runtime: %s", conditionText(kyma.Status.Conditions))
	}
	manifests, err := s.Manifests(ctx)
	if err != nil {
		return err
	}
	for i := range manifests {
		if !saysClaimed(manifests[i].Status.Conditions) {
			return fmt.Errorf("the Manifest %s does not say that another hub has its runtime: %s",
				manifests[i].Name, conditionText(manifests[i].Status.Conditions))
		}
	}
	return nil
}

func saysClaimed(all []metav1.Condition) bool {
	ready := conditions.Find(all, v1beta2.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason == v1beta2.ReasonRuntimeClaimed
}

// switchMeanwhile deletes an object of the runtime, as the other hub may, and switches the Kyma's channel. From here on until the
// take-over, nothing may be written to the runtime.
func switchMeanwhile(ctx context.Context, s *Scenario) error {
	s.Foreign = &Span{From: s.Home.Proxy.Last()}
	if err := damage(ctx, s); err != nil {
		return err
	}
	return switchChannel(ctx, s)
}

// observed is nil once the manager has seen the new spec of the Kyma, and still says whose the runtime is.
func observed(ctx context.Context, s *Scenario) error {
	kyma, err := s.Live(ctx)
	if err != nil {
		return err
	}
	if kyma.Status.ObservedGeneration != kyma.Generation {
		return fmt.Errorf("the status is of generation %d, not %d", kyma.Status.ObservedGeneration, kyma.Generation)
	}
	return refused(ctx, s)
}

// takeOver asks for the runtime of the other hub.
func takeOver(ctx context.Context, s *Scenario) error {
	s.Foreign.To = s.Home.Proxy.Last()
	return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) {
		metav1.SetMetaDataAnnotation(&kyma.ObjectMeta, v1beta2.AnnotationTakeOverFrom, otherHub)
	})
}

// takenOver is nil once the runtime is this hub's, has the new version, and the request is gone.
func takenOver(version string) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		if err := installed(version)(ctx, s); err != nil {
			return err
		}
		kyma, err := s.Live(ctx)
		if err != nil {
			return err
		}
		if _, asked := kyma.Annotations[v1beta2.AnnotationTakeOverFrom]; asked {
			return errors.New("the Kyma still asks for the take-over")
		}
		return s.holds(ctx)
	}
}

// holds is nil once the runtime is claimed for the hub of the rig.
func (s *Scenario) holds(ctx context.Context) error {
	hub := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}}
	if err := s.Rig.Hub.Client.Get(ctx, client.ObjectKeyFromObject(hub), hub); err != nil {
		return err
	}
	namespace := claimed()
	if err := s.Home.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
		return err
	}
	if holder := namespace.Annotations[v1beta2.AnnotationHub]; holder != string(hub.UID) {
		return fmt.Errorf("the runtime is claimed for hub %q, not %s", holder, hub.UID)
	}
	return nil
}

// unclaim takes the claim of the other hub off the runtime, which an operation that failed may have left there.
func (s *Scenario) unclaim(ctx context.Context) error {
	namespace := claimed()
	err := s.Home.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
	if err != nil || namespace.Annotations[v1beta2.AnnotationHub] != otherHub {
		return client.IgnoreNotFound(err)
	}
	return edit(ctx, s.Home, namespace, func(namespace *corev1.Namespace) { delete(namespace.Annotations, v1beta2.AnnotationHub) })
}
