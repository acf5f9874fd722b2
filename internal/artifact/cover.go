package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Cover is the content that the signature of a component version vouches for. Nil covers everything: nothing has to be signed.
type Cover struct {
	// Enforced says that what is not covered is refused.
	Enforced bool
	// Because says why nothing is covered; empty when something is.
	Because string
	digests map[string]bool
}

// Covers tells whether content is vouched for.
func (c *Cover) Covers(digest string) bool { return c == nil || c.digests[digest] }

// Signed says which content component versions vouch for.
type Signed interface {
	// Cover costs no call once the component version was read. A positive retry says that it is still being read.
	Cover(ctx context.Context, key module.ComponentKey) (cover *Cover, retry time.Duration, err error)
}

// Cover answers for what a Manifest says that it comes from. Without a name that is nothing, and only a policy for everything asks for a
// signature then.
func (c *Components) Cover(ctx context.Context, key module.ComponentKey) (cover *Cover, retry time.Duration, err error) {
	if c.Signatures == nil {
		return nil, 0, nil
	}
	policy := c.Signatures(key.Name)
	if !policy.Asks() {
		return nil, 0, nil
	}
	cover = &Cover{Enforced: policy.Enforced()}
	if key.Name == "" || key.Version == "" {
		cover.Because = "it names no component version that could be verified"
		return cover, 0, nil
	}
	judged, retry, err := c.judge(ctx, key)
	switch reason := descriptor.ReasonOf(err); {
	case reason == descriptor.ReasonUnreachable, reason == descriptor.ReasonUnauthorized, err != nil && reason == "":
		return cover, retry, err
	case err != nil:
		cover.Because = err.Error()
		return cover, retry, nil //nolint:nilerr // the caller is told by Because
	case judged == nil:
		return cover, retry, nil
	}
	cover.digests, cover.Because = judged.cover, judged.component.Warning
	return cover, 0, nil
}

// covering is what the content of one Manifest is held to.
type covering struct {
	cover *Cover
	retry time.Duration
	log   func(problem string)
}

// covering finds out what the content of a Manifest is held to. What cannot be found out refuses only where a signature has to be.
func (c *Contents) covering(ctx context.Context, m *v1beta2.Manifest) (*covering, error) {
	if c.Signed == nil {
		return &covering{}, nil
	}
	key := module.ComponentKey{Name: m.Annotations[v1beta2.AnnotationOCMComponentName], Version: m.Spec.Version}
	cover, retry, err := c.Signed.Cover(ctx, key)
	found := &covering{cover: cover, retry: retry, log: func(problem string) { c.warn(m, problem) }}
	switch {
	case cover == nil || !cover.Enforced:
		if err != nil || retry > 0 && cover.Because == "" {
			found.cover = nil // it may be in order
		}
		return found, nil
	case err != nil:
		return nil, &content.Error{
			Reason:     cmp.Or(descriptor.ReasonOf(err), content.ReasonInternal),
			Err:        fmt.Errorf("it cannot be verified that component %s:%s is signed: %w", key.Name, key.Version, err),
			RetryAfter: retry,
		}
	case retry > 0 && cover.Because == "":
		return nil, ErrPending
	}
	for _, image := range m.Spec.LocalizedImages {
		_, digest, _ := strings.Cut(image, "@")
		if !cover.Covers(digest) {
			return nil, found.refused("spec.localizedImages", image)
		}
	}
	return found, nil
}

// check refuses content that nobody vouches for.
func (c *covering) check(name, digest string) error {
	if c.cover.Covers(digest) {
		return nil
	}
	err := c.refused(name, digest)
	if !c.cover.Enforced {
		c.log(err.Error())
		return nil
	}
	return err
}

func (c *covering) refused(name, what string) error {
	problem := "it is no resource of the component version that the Manifest names"
	if c.cover.Because != "" {
		problem = c.cover.Because
	}
	return &content.Error{
		Reason:     v1beta2.ReasonContentNotCovered,
		Err:        errors.New(name + ": no signature that is trusted covers " + what + ": " + problem),
		RetryAfter: c.retry,
	}
}

// warn tells of a Manifest once as long as its problem is the same.
func (c *Contents) warn(m *v1beta2.Manifest, problem string) {
	key := m.Namespace + "/" + m.Name
	if told, _ := c.told.Get(key); told == problem {
		return
	}
	c.told.Add(key, problem)
	c.Log.Info("A Manifest installs what is not signed as it should be", "manifest", key, "problem", problem)
}
