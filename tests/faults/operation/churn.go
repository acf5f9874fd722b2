package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// patience is how long one Kyma of a Churn may take to come, and to go; with a fault it may do neither.
const patience = 15 * time.Second

// Churn lets Kymas come and go on the runtime that the Scenario does not use, one after the other, until the context ends: a manager at
// rest makes no calls that a fault could strike. Unchurn removes what is left of them.
type Churn struct {
	s     *Scenario
	kymas []*v1beta2.Kyma
}

// NewChurn returns a Churn that has not begun.
func NewChurn(s *Scenario) *Churn { return &Churn{s: s} }

// Run returns when the context has ended. What a fault prevents is left, and the next Kyma has its turn.
func (c *Churn) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		kyma := testkit.Kyma(fmt.Sprintf("churn-%s-%d", c.s.ID, len(c.kymas)), testkit.Unsynced(), testkit.WithModule(c.s.Maps))
		c.kymas = append(c.kymas, kyma)
		if err := c.come(ctx, kyma); err != nil {
			return err
		}
		_ = Await(ctx, c.s, c.ready(kyma), patience) // a fault may keep it from that
		if err := client.IgnoreNotFound(c.s.Rig.Hub.Client.Delete(ctx, kyma)); err != nil && ctx.Err() == nil {
			return err
		}
		_ = Await(ctx, c.s, c.gone(kyma), patience)
	}
	return nil
}

// come creates a Kyma and its access Secret.
func (c *Churn) come(ctx context.Context, kyma *v1beta2.Kyma) error {
	kubeconfig, err := c.s.Other.Proxy.Kubeconfig()
	if err != nil {
		return err
	}
	for _, object := range []client.Object{testkit.NewAccessSecret(kyma.Name, kubeconfig), kyma} {
		if err := c.s.Rig.Hub.Client.Create(ctx, object); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (c *Churn) ready(kyma *v1beta2.Kyma) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		live := &v1beta2.Kyma{}
		if err := s.Rig.Hub.Client.Get(ctx, client.ObjectKeyFromObject(kyma), live); err != nil {
			return err
		}
		if live.Status.State != v1beta2.StateReady {
			return fmt.Errorf("%s is %q", kyma.Name, live.Status.State)
		}
		return nil
	}
}

func (c *Churn) gone(kyma *v1beta2.Kyma) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		err := s.Rig.Hub.Client.Get(ctx, client.ObjectKeyFromObject(kyma), &v1beta2.Kyma{})
		if err == nil {
			return fmt.Errorf("%s is still there", kyma.Name)
		}
		return client.IgnoreNotFound(err)
	}
}

// Unchurn deletes the Kymas that are left, without faults, and returns when they are gone.
func (c *Churn) Unchurn(ctx context.Context) error {
	var err error
	for _, kyma := range c.kymas {
		err = errors.Join(err, client.IgnoreNotFound(c.s.Rig.Hub.Client.Delete(ctx, kyma)))
	}
	for _, kyma := range c.kymas {
		err = errors.Join(err, Await(ctx, c.s, c.gone(kyma), closeWithin))
		err = errors.Join(err, client.IgnoreNotFound(c.s.Rig.Hub.Client.Delete(ctx, testkit.NewAccessSecret(kyma.Name, nil))))
	}
	return err
}
