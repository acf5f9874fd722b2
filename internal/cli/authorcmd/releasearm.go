package authorcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/rolloutedit"
)

// armPatience is how long release set waits for the mark of a rollout, which a running lifecycle manager writes within a second. Tests set
// a shorter time.
var armPatience = 30 * time.Second

// awaitArmed waits until the release carries the mark of the rollout that decides about a channel that moves, and returns that rollout; nil
// when there is none. Before that, Kymas would follow the channel at once. A release in a file is in no cluster, and a new one has no Kyma
// yet that could follow it.
func (a *author) awaitArmed(
	ctx context.Context, r *releasing, store releases, moves []packaging.Move,
) (*v1beta2.ModuleRollout, error) {
	cluster, is := store.(*clusterReleases)
	if !is || cluster.fresh {
		return nil, nil //nolint:nilnil // no rollout decides about a file, or has a version to begin from
	}
	key := client.ObjectKeyFromObject(cluster.found)
	rollout, err := rolloutedit.Governing(ctx, cluster.client, key)
	switch {
	case apierrors.IsForbidden(err) && cluster.found.Annotations[v1beta2.AnnotationRollout] != "":
		return nil, nil //nolint:nilnil // it is marked: a rollout decides, whichever that is
	case apierrors.IsForbidden(err):
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"you may not read the ModuleRollout %s, so that it is not known whether all Kymas would get the version at once: %w", key, err)}).
			With("ask for the right to get modulerollouts.operator.kyma-project.io in its namespace")
	case err != nil || rollout == nil || !covered(rollout, moves):
		return nil, err
	case r.dryRun != "none" || rolloutedit.IsMarked(cluster.found, rollout):
		return rollout, nil
	}
	return rollout, a.awaitMark(ctx, cluster, rollout)
}

// awaitMark waits. The write that follows finds that the release has changed, and compares its channels again.
func (a *author) awaitMark(ctx context.Context, cluster *clusterReleases, rollout *v1beta2.ModuleRollout) error {
	a.console.Sayf("Waiting for the lifecycle manager to mark the release: its ModuleRollout is new.")
	_, err := rolloutedit.AwaitMark(ctx, cluster.client, rollout, armPatience)
	if errors.Is(err, rolloutedit.ErrUnmarked) {
		key := client.ObjectKeyFromObject(rollout)
		return console.TimedOut("the lifecycle manager has not marked the release %s within %s: without the mark, all Kymas "+
			"would follow the channel at once, whatever the ModuleRollout says", key, armPatience).
			With("kyma rollout status %s says why; kyma check shows whether the lifecycle manager runs. Without the ModuleRollout, "+
				"kyma release set does not wait", rollout.Name)
	}
	return err
}

// covered reports whether a rollout decides about a channel that changes.
func covered(rollout *v1beta2.ModuleRollout, moves []packaging.Move) bool {
	for _, move := range moves {
		if move.Changes() && rolloutedit.Covers(rollout, move.Channel) {
			return true
		}
	}
	return false
}

// tellWaves says in which waves the versions go out.
func (a *author) tellWaves(rollout *v1beta2.ModuleRollout, dryRun bool, moves []packaging.Move) {
	if rollout == nil {
		return
	}
	var waves []string
	for _, wave := range rollout.Spec.Waves {
		waves = append(waves, wave.Name)
	}
	told := map[string]bool{}
	for _, move := range moves {
		if !move.Changes() || !rolloutedit.Covers(rollout, move.Channel) || told[move.To] {
			continue
		}
		told[move.To] = true
		verb, follow := "goes", "follow it with `kyma rollout status "+rollout.Name+" --watch`"
		if dryRun {
			verb, follow = "would go", "`kyma rollout status "+rollout.Name+"` shows how it stands"
		}
		a.console.Sayf("%s %s %s out in waves: %s; %s", rollout.Name, move.To, verb, strings.Join(waves, ", "), follow)
	}
	if rollout.Spec.Paused && !dryRun {
		a.console.Sayf("The rollout is paused: kyma rollout resume %s lets it begin.", rollout.Name)
	}
}
