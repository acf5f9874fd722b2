package modulecontent

import (
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// described is a component version that was read.
type described struct {
	component module.Component
	source    *descriptor.Component
	last      atomic.Pointer[judgement]
	// doubted reports that it could not be installed; read is the time of the last read from the registry, in nanoseconds of Unix time.
	doubted atomic.Bool
	read    atomic.Int64
}

// stale reports whether it is time to read a component version again.
func (d *described) stale(now time.Time) bool {
	return d.doubted.Load() && now.Sub(time.Unix(0, d.read.Load())) >= doubtPause
}

// judgement is the result of checking a component version against a policy.
type judgement struct {
	policy *descriptor.SignaturePolicy
	// component describes what it can install.
	component module.Component
	// verified names the signer; nil where no signature was required, or it does not hold.
	verified *descriptor.Verification
	// coverage is what may be installed of it; nil where nothing is checked against it, or nothing of it may be installed.
	coverage *descriptor.Coverage
	// floor is the most that may be installed of it where an audit is part of a policy that enforces; floorProblem is why nothing may be.
	floor        *descriptor.Coverage
	floorProblem error
	// problem describes what is wrong with it. err is the same where the problem refuses it.
	problem, err error
}

// holds reports whether a judgement is still valid: it ends when a certificate expires.
func (j *judgement) holds(now time.Time) bool {
	return j.verified == nil || j.verified.Until.IsZero() || !now.After(j.verified.Until)
}

// judge returns the last judgement if it is for the same policy and still holds, or makes a new one.
func (d *described) judge(policy *descriptor.SignaturePolicy, now time.Time, log logr.Logger) *judgement {
	last := d.last.Load()
	if last != nil && last.policy == policy && last.holds(now) {
		return last
	}
	made := &judgement{policy: policy, component: d.component}
	if policy.Binds() {
		made.verify(d.source, now)
		if made.component.Warning != "" && (last == nil || last.component.Warning != made.component.Warning) {
			log.Info("A component is not signed as required", "component", d.source.Name, "version", d.source.Version,
				"problem", made.component.Warning)
		}
	}
	d.last.Store(made)
	return made
}

// verify checks the signature, and what it covers.
func (j *judgement) verify(source *descriptor.Component, now time.Time) {
	j.verified, j.coverage, j.problem = j.policy.Judge(source, now)
	if j.policy.Closed && !j.policy.Enforced() && j.policy.Asks() {
		j.floor, j.floorProblem = source.Unsigned()
	}
	switch {
	case j.problem == nil && j.policy.Enforced():
		j.component.LocalizedImages = j.coverage.Localized()
	case j.problem == nil:
	case j.policy.Enforced():
		j.err = j.problem
	default:
		j.component.Warning = j.problem.Error()
	}
}
