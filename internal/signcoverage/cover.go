// Package signcoverage finds the parts of a module that the signature of its component version does not cover.
//
// A signature covers the content of a component version by digest. The installed module depends on more: which images replace those in the
// content, which default custom resource is created, which object counts as its operator. This package compares all of that with the signed
// content. It works on its input and reads nothing: internal/manager/modulecontent calls it for Manifests, internal/client/directinstall
// for modules that are installed without the manager.
//
// Non-goals: it verifies no signature (pkg/component/descriptor does), and does not decide the consequences: the signature policy does.
package signcoverage

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Problem is a part of a module that no signature covers.
type Problem struct {
	// Where it is: a field, or an object of the content.
	Where string
	// What is not covered, and what to do.
	What string
}

// String returns the problem as one sentence.
func (p Problem) String() string { return p.Where + ": no signature that is trusted covers " + p.What }

func problem(where, format string, args ...any) Problem {
	return Problem{Where: where, What: fmt.Sprintf(format, args...)}
}

// Localized returns the references, out of those that replace references in the content, that are not those of an image resource by name,
// tag and digest. Their host and path are free: a mirror holds the same digest.
func Localized(of *descriptor.Coverage, references []string) (found []Problem) {
	for _, image := range references {
		name, digest, _ := strings.Cut(image, "@")
		if !slices.ContainsFunc(of.Images, func(covered descriptor.CoveredImage) bool {
			return covered.Digest == digest && covered.Binds(name)
		}) {
			found = append(found, problem("spec.localizedImages", "%s: name an image resource of the component by its name, tag and digest", image))
		}
	}
	return found
}

// Images returns which images of the content's objects are not covered, once localized has replaced those of the same name and tag. An
// image is covered when it has a digest which is that of an image resource, or is given in the content. The latter counts only with fixed,
// which means that nothing unsigned, such as values, was rendered into the content.
func Images(of *descriptor.Coverage, objects []*unstructured.Unstructured, localized []string, fixed bool) ([]Problem, error) {
	covered := map[string]bool{}
	for _, image := range of.Images {
		covered[image.Digest] = true
	}
	if fixed {
		for _, use := range render.ImageUses(objects) {
			if _, digest, pinned := strings.Cut(use.Image, "@"); pinned {
				covered[digest] = true
			}
		}
	}
	run, err := render.LocaliseImages(objects, localized)
	if err != nil {
		return nil, err
	}
	var found []Problem
	for _, use := range render.ImageUses(run) {
		_, digest, pinned := strings.Cut(use.Image, "@")
		if !pinned || !covered[digest] {
			found = append(found, problem(use.ID.String(), "%s", uncovered(of, use.Image, pinned)))
		}
	}
	return found, nil
}

// uncovered returns why an image is not covered, and what to do.
func uncovered(of *descriptor.Coverage, image string, pinned bool) string {
	if pinned {
		return fmt.Sprintf("image %s: its digest stands neither in the signed content nor in an image resource of the component", image)
	}
	for _, resource := range of.Images {
		if name, _, _ := strings.Cut(resource.Unbound, "@"); name != "" && name == image {
			return fmt.Sprintf("image %s: the reference of resource %s is not signed, and does not belong to its name and version (%s): "+
				"name the resource after the image and its tag, or pin the image by its digest in the content",
				image, resource.Resource, resource.Version)
		}
	}
	return fmt.Sprintf("image %s, which has no digest: add it to the component as a resource of type ociImage and sign that, or pin it by "+
		"its digest in the content", image)
}

// Release returns a problem if the release of a chart has another name than the module: that name becomes part of the names of objects, and
// comes from a label. The module's name is the last part of its component's name, or the one in the signed template.
func Release(component string, template *v1beta2.ModuleTemplate, release string) []Problem {
	if slices.Contains([]string{path.Base(component), template.Spec.ModuleName, template.Labels[v1beta2.LabelModuleName]}, release) {
		return nil
	}
	return []Problem{problem("metadata.labels", "the name %s of the chart's release: it is that of the module in label %s. Name the module "+
		"%s, name the release in the component's resource config and sign that, or add %q to allow of the rule",
		release, v1beta2.LabelModuleName, path.Base(component), descriptor.AllowValues)}
}

// CRDChanges returns the CRD safety rules that may be broken without being listed in the signed template.
func CRDChanges(template *v1beta2.ModuleTemplate, asked []v1beta2.CRDRule) (found []Problem) {
	for _, rule := range asked {
		if !slices.Contains(template.Spec.AllowCRDChanges, rule) {
			found = append(found, problem("spec.allowCRDChanges", "%s: name it in allowCRDChanges of the component's resource %s, or add %q to "+
				"allow of the rule", rule, descriptor.ResourceTemplate, descriptor.AllowCRDChanges))
		}
	}
	return found
}

// Manager returns a problem if the module's operator is neither the one that the signed template names nor an object of the content.
func Manager(template *v1beta2.ModuleTemplate, objects []*unstructured.Unstructured, manager *v1beta2.Manager) []Problem {
	if manager == nil || equality.Semantic.DeepEqual(manager, template.Spec.Manager) {
		return nil
	}
	for _, object := range objects {
		id := inventory.IDOf(object)
		if id.Group == manager.Group && id.Kind == manager.Kind && id.Name == manager.Name {
			return nil
		}
	}
	return []Problem{problem("spec.manager", "%s %s: name an object of the content", manager.Kind, manager.Name)}
}
