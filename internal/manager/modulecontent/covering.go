package modulecontent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/signcoverage"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// covering checks one reading of a Manifest against the digests that its component version covers. Without a cover it accepts everything.
type covering struct {
	cover    *SignedDigests
	retry    time.Duration
	manifest *v1beta2.Manifest
	// floor is the minimum that the reading is checked against first; nil where there is none.
	floor *covering
	// refuses ends the reading at the first problem; otherwise all are noted.
	refuses  bool
	problems []string
	// explore also finds what charts would declare in another cluster.
	explore bool
}

// covering returns what a Manifest is checked against. Where that cannot be determined, it returns an error only if a signature is
// required.
func (c *Contents) covering(ctx context.Context, m *v1beta2.Manifest) (*covering, error) {
	if c.Signed == nil {
		return &covering{}, nil
	}
	key := componentOf(m)
	held, retry, err := c.Signed.SignedDigests(ctx, key)
	pending := held != nil && held.coverage == nil && held.Problem == nil
	switch {
	case held == nil || pending && !held.Refuses() && held.floor == nil:
		return &covering{}, nil // it may turn out to be covered
	case err != nil:
		return nil, &content.Error{
			Reason:     cmp.Or(descriptor.ReasonOf(err), content.ReasonInternal),
			Err:        fmt.Errorf("it cannot be verified that component %s:%s is signed: %w", key.Name, key.Version, err),
			RetryAfter: retry,
		}
	case pending:
		return nil, ErrPending
	}
	found := &covering{cover: held, retry: retry, manifest: m, refuses: held.Refuses()}
	if held.floor != nil {
		found.floor = &covering{cover: held.floor, retry: retry, manifest: m, refuses: true}
	}
	return found, nil
}

// componentOf returns the component version that a Manifest names as its origin.
func componentOf(m *v1beta2.Manifest) module.ComponentKey {
	return module.ComponentKey{Name: m.Annotations[v1beta2.AnnotationOCMComponentName], Version: m.Spec.Version}
}

// report records problems, or returns the first as an error where they are refused.
func (c *covering) report(problems ...signcoverage.Problem) error {
	for _, problem := range problems {
		if c.refuses {
			return &content.Error{Reason: v1beta2.ReasonContentNotCovered, Err: errors.New(problem.String()), RetryAfter: c.retry}
		}
		if text := problem.String(); !slices.Contains(c.problems, text) {
			c.problems = append(c.problems, text)
		}
	}
	return nil
}

func (c *covering) problem(where, format string, args ...any) error {
	return c.report(signcoverage.Problem{Where: where, What: fmt.Sprintf(format, args...)})
}

// judges reports whether there is coverage to compare with. Without it, each source is refused, or none is.
func (c *covering) judges() bool { return c.cover != nil && c.cover.Problem == nil }

// allows reports whether the policy exempts something from being covered.
func (c *covering) allows(what descriptor.Allowance) bool { return c.cover.Policy.Allows(what) }

// enforces reports whether something that no signature covers is refused, by the policy of the component or by the floor.
func (c *covering) enforces(what descriptor.Allowance) bool {
	return c != nil && (c.judges() && c.refuses && !c.allows(what) || c.floor.enforces(what))
}

// checkSpec checks the fields of the spec apart from its sources. TestEveryFieldOfAManifestIsJudged lists each field and why it is checked
// here, elsewhere or not at all.
func (c *covering) checkSpec() error {
	if !c.judges() {
		return nil
	}
	spec := &c.manifest.Spec
	if spec.Values != nil && !c.allows(descriptor.AllowValues) {
		if err := c.problem("spec.values", "values: remove them, put them into the component's resource config and sign that, or add %q "+
			"to allow of the rule", descriptor.AllowValues); err != nil {
			return err
		}
	}
	if spec.KymaValues != nil && !c.allows(descriptor.AllowValues) {
		if err := c.problem("spec.kymaValues", "values of the module's entry in the Kyma: remove values and valuesFrom from the entry, put them "+
			"into the component's resource config and sign that, or add %q to allow of the rule", descriptor.AllowValues); err != nil {
			return err
		}
	}
	if spec.TargetNamespace != "" && !c.allows(descriptor.AllowTargetNamespace) {
		if err := c.problem("spec.targetNamespace", "namespace %s: remove it, name the namespace in the content, or add %q to allow of the rule",
			spec.TargetNamespace, descriptor.AllowTargetNamespace); err != nil {
			return err
		}
	}
	if !c.cover.Policy.Asks() {
		return nil
	}
	if signed := c.cover.coverage.Contents.Config; signed != nil && spec.Config == nil {
		if err := c.problem(PartConfig, "a module without resource %s of its component: name that in spec.config", signed.Resource); err != nil {
			return err
		}
	}
	return c.report(signcoverage.Localized(c.cover.coverage, c.pinnedImages())...)
}

// pinnedImages returns the localised images to check: without enforcement, Manifests of a Kyma also hold images that are not pinned.
func (c *covering) pinnedImages() []string {
	if c.refuses {
		return c.manifest.Spec.LocalizedImages
	}
	return slices.DeleteFunc(slices.Clone(c.manifest.Spec.LocalizedImages), func(image string) bool { return !strings.Contains(image, "@") })
}

// checkPart checks a source against the component's resource for its role: by name, format and digest.
func (c *covering) checkPart(part *parsedSource, first bool, digest string) error {
	if c.cover == nil {
		return nil
	}
	if c.cover.Problem != nil {
		return c.problem(part.name, "%s: %s", digest, c.cover.Problem)
	}
	layer, role := c.role(part, first)
	switch {
	case layer == nil:
		return c.problem(part.name, "%s: it is %s of the component version that the Manifest names", digest, role)
	case layer.Digest != digest:
		return c.problem(part.name, "%s: it is no resource of the component version that the Manifest names, where %s has %s",
			digest, layer.Resource, layer.Digest)
	case layer.Format != part.format:
		return c.problem(part.name, "type %q for %s: write %q", part.format, layer.Resource, layer.Format)
	case part.path != "":
		return c.problem(part.name, "path %q: the content is signed as a whole, remove path", part.path)
	}
	return nil
}

// role returns the resource that a part of the Manifest must match; without one, it returns a description of the part instead. The first
// installation may have any name, since the author of a stand-alone Manifest chooses it, unless the name becomes the release name of a
// chart.
func (c *covering) role(part *parsedSource, first bool) (layer *descriptor.Layer, role string) {
	contents, name := &c.cover.coverage.Contents, part.name
	switch {
	case name == PartConfig:
		return contents.Config, "no config"
	case name == PartCRDs:
		return contents.Definitions, "no resource crds"
	case first && (name == rawManifest || contents.Installs[0].Format != descriptor.FormatHelmChart):
		return &contents.Installs[0], ""
	}
	at := slices.IndexFunc(contents.Installs, func(l descriptor.Layer) bool { return l.Resource == name })
	if at < 0 {
		names := make([]string, 0, len(contents.Installs))
		for _, layer := range contents.Installs {
			names = append(names, layer.Resource)
		}
		return nil, fmt.Sprintf("no installation (those are %s)", strings.Join(names, ", "))
	}
	return &contents.Installs[at], ""
}

// checkImages checks every image that pods run. Where no signature is required, images may be named by tag.
func (c *covering) checkImages(parts []Part) error {
	if !c.judges() || !c.cover.Policy.Asks() {
		return nil
	}
	images := c.manifest.Spec.LocalizedImages
	if !c.refuses {
		images = c.cover.coverage.Localized() // as they would be with enforcement
	}
	found, err := signcoverage.Images(c.cover.coverage, objectsOf(parts), images, !hasValues(&c.manifest.Spec))
	if err != nil {
		return err
	}
	return c.report(found...)
}

// objectsOf returns the objects of all parts.
func objectsOf(parts []Part) (all []*unstructured.Unstructured) {
	for _, part := range parts {
		all = append(all, part.Rendered.Objects()...)
	}
	return all
}

// warn logs a Manifest's problem once, until the problem changes.
func (c *Contents) warn(m *v1beta2.Manifest, problem string) {
	key := m.Namespace + "/" + m.Name
	if told, _ := c.told.Get(key); told == problem {
		return
	}
	c.told.Add(key, problem)
	c.Log.Info("A Manifest installs content that is not signed as required", "manifest", key, "problem", problem)
}
