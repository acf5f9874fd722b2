package kyma

import (
	"context"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Components tells what a component version in the registry holds. What cannot be read comes back as a Component with
// a reason, what is still being read as one that is pending, and a positive retry says when it is worth asking again. An answer never
// takes long. It is asked by several at once.
type Components interface {
	Describe(ctx context.Context, key module.ComponentKey) (component module.Component, retry time.Duration)
}

// Metrics publishes the state of Kymas and their modules.
type Metrics interface {
	ObserveKyma(kyma *v1beta2.Kyma)
	ForgetKyma(namespace, name string)
}
