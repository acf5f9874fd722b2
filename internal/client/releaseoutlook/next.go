package releaseoutlook

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// NextManifest returns a module's Manifest, nil for none, with the values that the entry of the Kyma sets now, as the lifecycle manager
// would write it. Values in objects of the hub are read as the user. Without a Manifest the result has only values, and is nil without any.
func NextManifest(ctx context.Context, hub client.Reader, kyma *v1beta2.Kyma, name string, have *v1beta2.Manifest) *v1beta2.Manifest {
	spec, last := modulestatus.Effective(kyma), kyma.Status.LastSeen
	at := slices.IndexFunc(spec.Modules, func(m v1beta2.Module) bool { return m.Name == name })
	if at < 0 {
		return have
	}
	if !module.Synced(kyma) {
		last = nil
	}
	known := map[v1beta2.ValuesReference]module.ReferredValues{}
	for _, named := range spec.Modules[at].ValuesFrom {
		named.Key = named.DataKey()
		known[named] = module.ReferredValues{Hash: knownHash(have, named)}
		if text, err := versioncontent.ReadValues(ctx, hub, kyma.Namespace, named); err == nil {
			known[named] = module.ReferredValues{Hash: module.HashValues(text)}
		}
	}
	values := module.ValuesFor(&spec.Modules[at], have, module.RefusedOnHub(&kyma.Spec, last)[name], known)
	if have == nil && values == nil {
		return nil
	}
	next := &v1beta2.Manifest{}
	if next.Namespace = kyma.Namespace; have != nil {
		next = have.DeepCopy()
	}
	next.Spec.KymaValues = values
	return next
}

// knownHash returns what a Manifest, nil for none, knows of values in an object of the hub.
func knownHash(have *v1beta2.Manifest, named v1beta2.ValuesReference) string {
	if have != nil && have.Spec.KymaValues != nil {
		for _, from := range have.Spec.KymaValues.From {
			if from.ValuesReference == named {
				return from.Hash
			}
		}
	}
	return versioncontent.UnknownHash
}
