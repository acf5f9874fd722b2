package artifact

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
	// doubted says that somebody could not install it; read is when the registry was asked for it last, in nanoseconds of Unix time.
	doubted atomic.Bool
	read    atomic.Int64
}

// stale says that it is time to read a component version anew.
func (d *described) stale(now time.Time) bool {
	return d.doubted.Load() && now.Sub(time.Unix(0, d.read.Load())) >= doubtPause
}

// judgement is what a component version is worth under a policy.
type judgement struct {
	policy *descriptor.SignaturePolicy
	// until is when a certificate expires, and the judgement with it; zero means never.
	until time.Time
	// component is what it can install.
	component module.Component
	// cover holds the digests that the signature vouches for.
	cover map[string]bool
	// err says why it is refused.
	err error
}

// judge gives the last judgement if it is about the same policy and still holds, or makes a new one.
func (d *described) judge(policy *descriptor.SignaturePolicy, now time.Time, log logr.Logger) *judgement {
	last := d.last.Load()
	if last != nil && last.policy == policy && (last.until.IsZero() || !now.After(last.until)) {
		return last
	}
	made := &judgement{policy: policy, component: d.component}
	if policy.Asks() {
		made.verify(d.source, policy, now)
		if made.component.Warning != "" && (last == nil || last.component.Warning != made.component.Warning) {
			log.Info("A component is not signed as it should be", "component", d.source.Name, "version", d.source.Version,
				"problem", made.component.Warning)
		}
	}
	d.last.Store(made)
	return made
}

// verify looks at the signature, and at whether what is going to be installed is what was signed.
func (j *judgement) verify(source *descriptor.Component, policy *descriptor.SignaturePolicy, now time.Time) {
	until, err := source.Verify(&policy.Trust, now)
	var images []string
	if err == nil {
		images, err = source.Vouched()
	}
	switch {
	case err == nil:
		j.until, j.cover = until, signedDigests(source)
		if policy.Enforced() {
			j.component.LocalizedImages = images
		}
	case policy.Enforced():
		j.err = err
	default:
		j.component.Warning = err.Error()
	}
}

// signedDigests are those of everything that a verified component version holds.
func signedDigests(c *descriptor.Component) map[string]bool {
	cover := map[string]bool{}
	for i := range c.Resources {
		if digest, ok := c.Resources[i].SignedDigest(); ok {
			cover[digest] = true
		}
	}
	return cover
}
