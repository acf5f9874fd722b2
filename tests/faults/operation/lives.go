package operation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// Modules that some operations have besides Web and Maps; a Scenario adds its ID.
const (
	// paper has two kinds of custom resources, and an object of the first kind.
	paper = "paper"
	// alias has the content of Web, under another name.
	alias = "alias"
	// left and right share a ConfigMap, and have one of their own each.
	left, right = "left", "right"
)

// named returns the name of a module of this Scenario.
func (s *Scenario) named(module string) string { return module + "-" + s.ID }

// installWith installs further modules besides Web and Maps.
func installWith(modules ...string) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		for _, module := range modules {
			if err := s.offer(ctx, s.named(module)); err != nil {
				return err
			}
			s.Modules = append(s.Modules, v1beta2.Module{Name: s.named(module)})
		}
		return install(ctx, s)
	}
}

// definitionOf returns the definition of a kind of module paper, and an unnamed object of it.
func (s *Scenario) definitionOf(kind, version string) (definition, object *unstructured.Unstructured) {
	sample := testkit.Operator(s.named(paper)+"-"+kind, version)
	return sample.Objects[0], sample.DefaultCR
}

// paperContent returns the content of paper. Version 2 no longer serves the version of the kind that its object had in version 1.
func (s *Scenario) paperContent(version string) testkit.Content {
	sheet, object := s.definitionOf("sheet", version)
	ink, drop := s.definitionOf("ink", version)
	object.SetName(s.named(paper))
	if version == v1 {
		object.SetAPIVersion(object.GroupVersionKind().Group + "/v1alpha1")
		serveAlso(sheet, "v1alpha1")
	}
	content := testkit.ConfigMaps(s.named(paper), version, 1)
	content.Objects = append(content.Objects, sheet, ink, object)
	for _, kind := range []*unstructured.Unstructured{object, drop} {
		content.Associated = append(content.Associated, metav1.GroupVersionKind{
			Group: kind.GroupVersionKind().Group, Version: "v1", Kind: kind.GetKind(),
		})
	}
	return content
}

// serveAlso makes a definition serve another version, with the same schema as its storage version.
func serveAlso(definition *unstructured.Unstructured, name string) {
	versions, found, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if !found || err != nil {
		panic(fmt.Sprintf("%s has no versions: %v", definition.GetName(), err))
	}
	stored, is := versions[0].(map[string]any)
	if !is {
		panic(definition.GetName() + " has a version that is no object")
	}
	another := maps.Clone(stored)
	another["name"], another["storage"] = name, false
	if err := unstructured.SetNestedSlice(definition.Object, append(versions, another), "spec", "versions"); err != nil {
		panic(err)
	}
}

// sharedContent returns the content of left or right. Version 2 no longer contains the object that the two modules share.
func (s *Scenario) sharedContent(module, version string) testkit.Content {
	content := testkit.ConfigMaps(module, version, 1)
	if version == v1 {
		content.Objects = append(content.Objects, testkit.ConfigMaps(s.named("common"), version, 1).Objects...)
	}
	return content
}

// mine returns an object that a user created, of the second kind of module paper.
func (s *Scenario) mine() *unstructured.Unstructured {
	_, object := s.definitionOf("ink", v1)
	object.SetName("mine-" + s.ID)
	return object
}

func usePaper(ctx context.Context, s *Scenario) error {
	if err := installWith(paper)(ctx, s); err != nil {
		return err
	}
	return s.Home.Client.Create(ctx, s.mine())
}

func stopUsing(ctx context.Context, s *Scenario) error {
	return client.IgnoreNotFound(s.Home.Client.Delete(ctx, s.mine()))
}

// blocked is nil once module paper, still complete, waits for the object that a user created.
func blocked(ctx context.Context, s *Scenario) error {
	manifests, err := s.Manifests(ctx)
	if err != nil {
		return err
	}
	if len(manifests) != 1 {
		return fmt.Errorf("there are %d Manifests, not only that of %s", len(manifests), s.named(paper))
	}
	manifest := &manifests[0]
	ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady)
	if !strings.Contains(manifest.Name, s.named(paper)) || ready == nil || ready.Reason != v1beta2.ReasonDeletionBlocked {
		return fmt.Errorf("the Manifest %s does not say what blocks it: %s", manifest.Name, conditionText(manifest.Status.Conditions))
	}
	return s.runs(ctx, s.named(paper), v1)
}

// begun is nil once the first part of an installation has reached the runtime.
func begun(ctx context.Context, s *Scenario) error {
	object := s.configMap(0)
	return s.Home.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
}

// installToRename offers the content of Web under another name, and records the custom resource that must outlive the change.
func installToRename(ctx context.Context, s *Scenario) error {
	if err := s.offer(ctx, s.named(alias)); err != nil {
		return err
	}
	if err := install(ctx, s); err != nil {
		return err
	}
	live, err := s.get(ctx, s.Contents[s.Web][v1].DefaultCR)
	s.Kept = live.GetUID()
	return err
}

func rename(ctx context.Context, s *Scenario) error {
	return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) {
		for i := range kyma.Spec.Modules {
			if kyma.Spec.Modules[i].Name == s.Web {
				kyma.Spec.Modules[i].Name = s.named(alias)
			}
		}
	})
}

// renamed is nil once the module of the new name has everything of the old one, including the same custom resource.
func renamed(ctx context.Context, s *Scenario) error {
	if err := installed(v1)(ctx, s); err != nil {
		return err
	}
	manifests, err := s.Manifests(ctx)
	if err != nil {
		return err
	}
	for i := range manifests {
		if strings.Contains(manifests[i].Name, s.Web) {
			return fmt.Errorf("the Manifest %s is still there: %s", manifests[i].Name, conditionText(manifests[i].Status.Conditions))
		}
	}
	live, err := s.get(ctx, s.Contents[s.Web][v1].DefaultCR)
	if err == nil && (live.GetUID() != s.Kept || live.GetDeletionTimestamp() != nil) {
		err = errors.New("the default custom resource is another one than before, or goes")
	}
	return err
}
