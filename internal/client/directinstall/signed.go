package directinstall

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/signcoverage"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// policy returns the signature policy of a component; that of "" applies to content in no component.
func (p *Plan) policy(component string) *descriptor.SignaturePolicy {
	if p.Signatures == nil {
		return nil
	}
	return p.Signatures(component)
}

// unsigned refuses content in no component version if the policy requires a signature.
func (p *Plan) unsigned(what string) (signed modulestatus.Signed, err error) {
	policy := p.policy("")
	switch {
	case policy.Enforced(), policy.Binds() && !policy.Asks():
		return signed, refuse(ReasonContentNotCovered, "module %s comes from %s, which no signature covers, and the policy asks for one: "+
			"install it from its component in a registry, or correct the policy", p.Template.Spec.ModuleName, what)
	case policy.Asks():
		return modulestatus.Signed{State: modulestatus.SignatureMissing, Message: "it comes from " + what + ", which no signature covers"}, nil
	}
	return modulestatus.Signed{State: modulestatus.SignatureUnknown}, nil
}

// seal is what the content of an installation is checked against.
type seal struct {
	policy   *descriptor.SignaturePolicy
	coverage *descriptor.Coverage
	// component is its name.
	component string
	template  *v1beta2.ModuleTemplate
	resource  *unstructured.Unstructured
	// release is the release name that the module gives to a chart; empty if the component names one.
	release string
	// content has the rendered objects of the content, before transforms replace images in them.
	content map[inventory.ID]*unstructured.Unstructured
}

// verify applies the policy to the component: without a valid signature, nothing is installed.
func (r *reading) verify(ctx context.Context, policy *descriptor.SignaturePolicy, found *loaded) error {
	found.signed.State = modulestatus.SignatureUnknown
	if !policy.Binds() {
		return nil
	}
	verified, coverage, err := policy.Judge(r.component, time.Now())
	switch {
	case err != nil && policy.Asks() && !policy.Enforced():
		found.signed = modulestatus.Signed{State: stateOf(err), Message: err.Error()}
		return nil
	case err != nil:
		return err
	}
	if verified != nil {
		found.signed = modulestatus.VerifiedBy(signcoverage.Signers(verified), verified.Digest, metav1.Now().Rfc3339Copy())
	}
	if policy.Enforced() {
		found.images = coverage.Localized()
	}
	found.seal = &seal{
		policy: policy, coverage: coverage, component: r.component.Name, template: &v1beta2.ModuleTemplate{},
		content: map[inventory.ID]*unstructured.Unstructured{},
	}
	return r.describe(ctx, found.seal)
}

// describe reads the component's own description of its module.
func (r *reading) describe(ctx context.Context, into *seal) error {
	template, err := r.file(ctx, r.component, resourceTemplate, r.plain)
	if err == nil && template != nil {
		into.template, err = one(r.component, template)
	}
	if err != nil {
		return err
	}
	resource, err := r.file(ctx, r.component, resourceDefaultCR, r.plain)
	if err != nil || resource == nil {
		into.resource = into.template.Spec.Data
		return err
	}
	into.resource, err = single(resource)
	return err
}

func stateOf(err error) string {
	return cmp.Or(map[string]string{
		descriptor.ReasonSignatureMissing: modulestatus.SignatureMissing, descriptor.ReasonSignatureUntrusted: modulestatus.SignatureUntrusted,
		descriptor.ReasonSignatureRevoked: modulestatus.SignatureRevoked,
	}[descriptor.ReasonOf(err)], modulestatus.SignatureInvalid)
}

// transforms returns functions that record the rendered objects, and then replace their images by those of the component.
func (l *loaded) transforms() []func(*unstructured.Unstructured) error {
	var made []func(*unstructured.Unstructured) error
	if l.seal != nil {
		made = append(made, func(object *unstructured.Unstructured) error {
			l.seal.content[inventory.IDOf(object)] = object.DeepCopy()
			return nil
		})
	}
	return append(made, localise(l.images)...)
}

// covered compares the content and the plan with the signed component. A policy that only audits records the problems.
func (c *installing) covered(custom []*unstructured.Unstructured) error {
	held := c.loaded.seal
	if held == nil {
		return nil
	}
	objects := slices.Clone(c.loaded.definitions)
	for _, id := range slices.SortedFunc(maps.Keys(held.content), inventory.ID.Compare) {
		objects = append(objects, held.content[id])
	}
	var problems []signcoverage.Problem
	if held.policy.Asks() {
		found, err := signcoverage.Images(held.coverage, objects, held.coverage.Localized(), true)
		if err != nil {
			return err
		}
		problems = found
	}
	spec := &c.plan.Template.Spec
	if !held.policy.Allows(descriptor.AllowCRDChanges) {
		problems = append(problems, signcoverage.CRDChanges(held.template, spec.AllowCRDChanges)...)
	}
	if held.release != "" && held.policy.Asks() && !held.policy.Allows(descriptor.AllowValues) {
		problems = append(problems, signcoverage.Release(held.component, held.template, held.release)...)
	}
	problems = append(problems, signcoverage.Manager(held.template, objects, spec.Manager)...)
	for _, resource := range custom {
		if _, known := c.created(resource); !known {
			free := held.policy.Allows(descriptor.AllowCustomResources)
			problems = append(problems, signcoverage.DefaultCR(held.resource, resource, objects, free)...)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, len(problems))
	for _, problem := range problems {
		texts = append(texts, problem.String())
	}
	message := strings.Join(texts[:min(len(texts), 5)], "; ")
	if held.policy.Asks() && !held.policy.Enforced() {
		c.loaded.signed.State, c.loaded.signed.Message = modulestatus.SignatureIncomplete, message
		return nil
	}
	return refuse(ReasonContentNotCovered, "nothing of module %s was changed: %s", c.module, message)
}

// created reports whether an earlier call created a custom resource, so that it is not created again.
func (c *installing) created(resource *unstructured.Unstructured) (inventory.ID, bool) {
	id := inventory.IDOf(resource)
	if c.record == nil {
		return id, false
	}
	for _, entry := range c.record.Created {
		if entry.ID == id && entry.Hash != "" {
			return id, true
		}
	}
	return id, false
}
