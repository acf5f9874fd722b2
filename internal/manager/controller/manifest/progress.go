package manifest

import (
	"context"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/progress"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// noteProgress tells the Kyma controller how the pass ended: it judges no upgrade by a status that no pass of this replica confirmed. An
// installation that is ready has come through its phases.
func (r *Reconciler) noteProgress(ctx context.Context, w *scope) {
	if !w.confirmed {
		r.Progress.Interrupt(w.key, r.Now().Time)
		return
	}
	r.Progress.Record(progress.Pass{Manifest: w.manifest, Found: w.found, Began: w.now.Time, Owned: sharding.Since(ctx)})
	if module.ModuleState(w.manifest) == v1beta2.StateReady {
		phases.Reach(ctx, phases.Ready)
	}
}

// recordObserved puts into the status for how long an upgrade was observed that must be ready in time, and returns when there is more to
// record. While something else than the module is in the way, nothing is: its time begins anew afterwards.
func (r *Reconciler) recordObserved(ctx context.Context, w *scope, found passResult) time.Duration {
	deadline, err := time.ParseDuration(w.manifest.Annotations[v1beta2.AnnotationProgressDeadline])
	status := &w.manifest.Status
	if err != nil || found.cut || !w.hasRevisions() || !revision.OfTheModule(found.reason) && found.reason != v1beta2.ReasonReady {
		return 0
	}
	observed, known := r.Progress.For(w.manifest, sharding.Since(ctx), w.now.Time)
	if !known {
		observed = revision.Recorded(status.Revisions) // this pass is the first, and continues from it
	}
	var wake time.Duration
	status.Revisions, wake = revision.Record(status.Revisions, observed, deadline)
	return wake
}

// soonest returns the shortest of some durations; zero means never.
func soonest(pauses ...time.Duration) time.Duration {
	var first time.Duration
	for _, pause := range pauses {
		if pause > 0 && (first == 0 || pause < first) {
			first = pause
		}
	}
	return first
}
