package kustomize

import (
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxWork bounds how long a build takes. Kustomize compares every object with all others wherever it puts objects together, so
// its time grows with their square: 2,000 objects (4 million comparisons) take some 5 s of a CPU, 10,000 would take minutes, while
// others wait. A base and two overlays of 2,000 objects are within.
const maxWork = 16_000_000

// buildWork is what a kustomization has, with all below it.
type buildWork struct {
	objects, changes int64
}

// workOf returns what the kustomization itself says, without its files.
func workOf(k *types.Kustomization) buildWork {
	return buildWork{
		objects: int64(len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Generators)),
		changes: int64(len(k.Patches) + len(k.Images) + len(k.Replicas) + len(k.Labels) + len(k.Replacements) + len(k.Transformers) +
			len(k.Validators) +
			len(k.ImageTags) + //nolint:staticcheck // Deprecated, and kustomize reads it.
			len(k.PatchesStrategicMerge) + //nolint:staticcheck // As above.
			len(k.PatchesJson6902) + //nolint:staticcheck // As above.
			len(k.Vars)), //nolint:staticcheck // As above.
	}
}

// tally adds up the work of one kustomization, once all below it is known. Each component puts all objects together again.
func (w *walk) tally(at fieldPath, k *types.Kustomization, below buildWork) error {
	own := workOf(k)
	own.objects += below.objects
	own.changes += below.changes
	w.here = own
	w.work += own.objects * (own.objects + own.changes) * int64(1+len(k.Components))
	if w.work > maxWork {
		return content.Errorf(content.ReasonContentTooLarge,
			"%s: kustomize would take minutes for %d objects and %d changes, because its time grows with the square of their "+
				"number: split the content, or run \"kustomize build\" beforehand and use the result as a bundle", at.file, own.objects, own.changes)
	}
	return nil
}

// objectsIn counts the objects of a file as kustomize does; what it cannot read it will say itself.
func (w *walk) objectsIn(text []byte) int64 {
	objects, err := w.parse.RF().RNodesFromBytes(text)
	if err != nil {
		return 0
	}
	return int64(len(objects))
}
