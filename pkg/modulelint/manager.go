package modulelint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
)

// versionLabel holds the version of a workload.
const versionLabel = "app.kubernetes.io/version"

// manager judges the object that runs the module's operator.
//
//  1. It must be in the manifest. A kind that runs no pods may be created by another component: a warning.
//  2. One of its containers has the module's version as its tag; a "v" before it is a warning.
//  3. Where all are pinned by digest alone, the version label must state it; without the label it is a warning.
func (l *linter) manager(objects []*unstructured.Unstructured) {
	wanted := l.Config.Manager
	if wanted == nil {
		return
	}
	_, runsPods := podSpecs[schema.GroupKind{Group: wanted.Group, Kind: wanted.Kind.Kind}]
	object := find(objects, wanted)
	if object == nil {
		severity := diagnostics.Warning
		if runsPods {
			severity = diagnostics.Error
		}
		l.inConfig(RuleManager, severity, "manager", fmt.Sprintf("the manifest has no %s", describe(wanted)), alternatives(objects, wanted))
		return
	}
	if runsPods && l.Config.Version != "" {
		l.managerVersion(object)
	}
}

func describe(wanted *moduleconfig.Manager) string {
	id := inventory.ID{Group: wanted.Group, Kind: wanted.Kind.Kind, Namespace: wanted.Namespace, Name: wanted.Name}
	return id.String() + " in version " + wanted.Version
}

// find returns the object that the configuration names; an omitted namespace matches any.
func find(objects []*unstructured.Unstructured, wanted *moduleconfig.Manager) *unstructured.Unstructured {
	kind := schema.GroupVersionKind{Group: wanted.Group, Version: wanted.Version, Kind: wanted.Kind.Kind}
	for _, object := range objects {
		if object.GroupVersionKind() == kind && object.GetName() == wanted.Name &&
			(wanted.Namespace == "" || wanted.Namespace == object.GetNamespace()) {
			return object
		}
	}
	return nil
}

// alternatives lists objects that may have been meant.
func alternatives(objects []*unstructured.Unstructured, wanted *moduleconfig.Manager) string {
	var names []string
	for _, object := range objects {
		if object.GetKind() == wanted.Kind.Kind {
			names = append(names, inventory.IDOf(object).String())
		}
	}
	if len(names) == 0 {
		return "correct it, or add the manager to the manifest"
	}
	slices.Sort(names)
	return "name one that it has: " + strings.Join(names[:min(len(names), 5)], ", ")
}

func (l *linter) managerVersion(object *unstructured.Unstructured) {
	version, id := l.Config.Version, inventory.IDOf(object)
	var tags []string
	field := ""
	for _, use := range uses(object) {
		if use.problem != "" || !strings.HasSuffix(use.field, "].image") || !strings.Contains(use.field, ".containers[") {
			continue
		}
		if field == "" {
			field = use.field
		}
		if tag := tagOf(use.image); tag != "" {
			tags = append(tags, tag)
		}
	}
	label := object.GetLabels()[versionLabel]
	note := func(severity diagnostics.Severity, message, fix string) {
		l.inObject(l.manifest, id, RuleManagerVersion, severity, field, fmt.Sprintf("%s: %s", id, message), fix)
	}
	switch {
	case field == "" || slices.Contains(tags, version):
	case slices.Contains(tags, "v"+version):
		note(diagnostics.Warning, fmt.Sprintf("has the tag v%s, but the module has the version %s", version, version),
			"use the same version in both")
	case len(tags) > 0:
		note(diagnostics.Error, fmt.Sprintf("has the tag %s, but the module has the version %s", strings.Join(tags, ", "), version),
			"use the same version in both")
	case label == "":
		note(diagnostics.Warning, "has images without a tag: the running version cannot be determined", "add a tag, or the label "+versionLabel)
	case strings.TrimPrefix(label, "v") != version:
		note(diagnostics.Error, fmt.Sprintf("has the label %s=%s, but the module has the version %s", versionLabel, label, version),
			"use the same version in both")
	}
}
