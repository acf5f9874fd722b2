package operation

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Operation is an action of users on a Kyma.
type Operation struct {
	Name string
	// Prepare brings a new Scenario to the start of the operation.
	Prepare func(context.Context, *Scenario) error
	// Steps follow each other, each when the previous one is settled.
	Steps []Step
}

// Step is one action of a user, with the condition for its end.
type Step struct {
	Name string
	// Do performs the action, bypassing all proxies.
	Do func(context.Context, *Scenario) error
	// Settled is nil when the requested state is reached, and otherwise returns what is missing.
	Settled func(context.Context, *Scenario) error
}

// Run performs all steps, and gives each of them the time within to settle.
func (o Operation) Run(ctx context.Context, s *Scenario, within time.Duration) error {
	for _, step := range o.Steps {
		if err := step.Do(ctx, s); err != nil {
			return fmt.Errorf("%s: %s: %w", o.Name, step.Name, err)
		}
		if err := Await(ctx, s, step.Settled, within); err != nil {
			return fmt.Errorf("%s: %s: not settled after %s: %w", o.Name, step.Name, within, err)
		}
	}
	return nil
}

// poll is short: the conditions are local, and take milliseconds.
const poll = 20 * time.Millisecond

// Await waits until a condition is nil, and otherwise returns its last error.
func Await(ctx context.Context, s *Scenario, settled func(context.Context, *Scenario) error, within time.Duration) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, poll, within, true, func(ctx context.Context) (bool, error) {
		if err := settled(ctx, s); err != nil {
			if ctx.Err() == nil || last == nil {
				last = err
			}
			return false, nil
		}
		return true, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

// prepareWithin is how long the preparation of a Scenario may take without faults.
const prepareWithin = time.Minute

// All returns the operations, in the order of the matrix: twelve everyday operations, one of which ends with what the manager does by
// itself, five in which something ends, and one in which the runtime changes hands.
func All() []Operation {
	return []Operation{
		{Name: "install", Prepare: nothing, Steps: []Step{{"create Kyma and Secret", createKyma, installed(v1)}}},
		{Name: "upgrade", Prepare: install, Steps: []Step{{"offer a new version in the channel", offerNext, installed(v2)}}},
		{Name: "channel", Prepare: install, Steps: []Step{{"switch the Kyma to channel fast", switchChannel, installed(v2)}}},
		{Name: "disable", Prepare: install, Steps: []Step{{"take both modules out of the spec", disable, disabled}}},
		{Name: "unmanage", Prepare: install, Steps: []Step{
			{"let go of both modules", manage(false), unmanaged},
			{"take them back", manage(true), installed(v1)},
		}},
		{Name: "delete", Prepare: install, Steps: []Step{{"delete the Kyma", deleteKyma, deleted}}},
		{Name: "catalog", Prepare: installWithSpare, Steps: []Step{{"change the offers, damage the definitions", changeOffers, catalogued}}},
		{Name: "rotate", Prepare: install, Steps: []Step{
			{"replace the credentials and revoke the old ones", rotate, installed(v1)},
			{"delete an object, which only the new ones can heal", damage, healed},
		}},
		{Name: "rollout", Prepare: installPlanned, Steps: []Step{
			{"offer a new version in a channel with a plan", offerNext, held(v1, v2)},
			{"approve the wave", approveWave, rolledOut(v2)},
		}},
		{Name: "rollback", Prepare: installUpgraded, Steps: []Step{{"go back to the version before", goBack, installed(v1)}}},
		{Name: "approve", Prepare: installManual, Steps: []Step{
			{"offer a new version that waits for consent", offerForConsent, asking(v1, v2)},
			{"agree to it", approve, installed(v2)},
		}},
		{Name: "ownrollback", Prepare: installFragile, Steps: []Step{{"offer a version that never becomes ready", offerBroken, wentBack}}},
		{Name: "delete-used", Prepare: usePaper, Steps: []Step{
			{"take all modules out of the spec, one of which is in use", disable, blocked},
			{"delete the object that uses it", stopUsing, disabled},
		}},
		{Name: "withdraw", Prepare: nothing, Steps: []Step{
			{"create Kyma and Secret", createKyma, begun},
			{"delete the Kyma amid the installation", deleteKyma, deleted},
		}},
		{Name: "rename", Prepare: installToRename, Steps: []Step{{"ask for the module by its new name", rename, renamed}}},
		{Name: "unserve", Prepare: installWith(paper), Steps: []Step{
			{"offer a version whose definition serves less", offerNext, installed(v2)},
			{"take all modules out of the spec", disable, disabled},
		}},
		{Name: "unshare", Prepare: installWith(left, right), Steps: []Step{
			{"offer versions of both modules without what they have in common", offerNext, installed(v2)},
		}},
		{Name: "takeover", Prepare: install, Steps: []Step{
			{"claim the runtime for another hub", claimForAnother, refused},
			{"switch the channel meanwhile", switchMeanwhile, observed},
			{"take the runtime over", takeOver, takenOver(v2)},
		}},
	}
}

// Named picks operations by name, ManagerUpgrade included; none means All.
func Named(names ...string) ([]Operation, error) {
	if len(names) == 0 {
		return All(), nil
	}
	var picked []Operation
	for _, name := range names {
		found := false
		for _, operation := range append(All(), ManagerUpgrade()) {
			if operation.Name == name {
				picked, found = append(picked, operation), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no operation %q", name)
		}
	}
	return picked, nil
}
