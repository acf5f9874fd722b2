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

// armPatience is how long release set waits until a rollout is armed, which a running lifecycle manager does within a second. Tests set a
// shorter time.
var armPatience = 30 * time.Second

// awaitArmed waits until the rollout is armed that decides about a channel that moves, and returns that rollout; nil when there is none.
// Before that, Kymas would follow the channel at once. A release in a file is in no cluster, and a new one has no version that its Kymas
// could stay with.
func (a *author) awaitArmed(
	ctx context.Context, r *releasing, store releases, moves []packaging.Move,
) (*v1beta2.ModuleRollout, error) {
	cluster, is := store.(*clusterReleases)
	if !is || cluster.fresh {
		return nil, nil //nolint:nilnil // no rollout decides about a file, or has a version to begin from
	}
	key := client.ObjectKeyFromObject(cluster.found)
	rollout, err := rolloutedit.Governing(ctx, cluster.client, key)
	marked := cluster.found.Annotations[v1beta2.AnnotationRollout] != ""
	switch {
	case apierrors.IsForbidden(err) && marked:
		return nil, nil //nolint:nilnil // a rollout decides, whichever that is
	case apierrors.IsForbidden(err):
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"you may not read the ModuleRollout %s, so that it is not known whether all Kymas would get the version at once: %w", key, err)}).
			With("ask for the right to get modulerollouts.operator.kyma-project.io in its namespace")
	case err != nil || rollout == nil, rollout.DeletionTimestamp != nil && !marked:
		return nil, err
	}
	covered, known := covered(rollout, moves)
	switch {
	case len(covered) == 0:
		return nil, nil //nolint:nilnil // it decides about other channels
	case r.dryRun != "none", rolloutedit.IsArmed(cluster.found, rollout, known):
		return rollout, nil
	}
	return rollout, a.awaitArm(ctx, cluster, key, known)
}

// awaitArm waits. The write that follows finds that the release has changed, and compares its channels again.
func (a *author) awaitArm(ctx context.Context, cluster *clusterReleases, key client.ObjectKey, channels []string) error {
	a.console.Sayf("Waiting for the lifecycle manager to take up the ModuleRollout %s.", key.Name)
	err := rolloutedit.AwaitArmed(ctx, cluster.client, key, channels, armPatience)
	if errors.Is(err, rolloutedit.ErrUnarmed) {
		return console.TimedOut("the lifecycle manager has not taken up the ModuleRollout %s within %s: before it has, all Kymas would "+
			"follow the channel at once, whatever the ModuleRollout says", key, armPatience).
			With("kyma rollout status %s says why; kyma check shows whether the lifecycle manager runs. Without the ModuleRollout, "+
				"kyma release set does not wait", key.Name)
	}
	return err
}

// covered returns the channels that change and about which a rollout decides, and those of them that offer a version already.
func covered(rollout *v1beta2.ModuleRollout, moves []packaging.Move) (all, known []string) {
	for _, move := range moves {
		if !move.Changes() || !rolloutedit.Covers(rollout, move.Channel) {
			continue
		}
		all = append(all, move.Channel)
		if move.From != "" {
			known = append(known, move.Channel)
		}
	}
	return all, known
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
		verb, follow := "rolls", "follow it with `kyma rollout status "+rollout.Name+" --watch`"
		if dryRun {
			verb, follow = "would roll", "`kyma rollout status "+rollout.Name+"` shows its state"
		}
		a.console.Sayf("%s %s %s out in waves: %s; %s", rollout.Name, move.To, verb, strings.Join(waves, ", "), follow)
	}
	if rollout.Spec.Paused && !dryRun {
		a.console.Sayf("The rollout is paused: kyma rollout resume %s lets it begin.", rollout.Name)
	}
}
