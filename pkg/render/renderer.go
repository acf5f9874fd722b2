package render

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Renderer turns unpacked content into objects. A new format implements this and is added to package formats. It is a function of its
// arguments, but for values that an installation lacks, see Input.Generated: no cluster, no network, no clock. Errors are *content.Error.
type Renderer interface {
	Render(ctx context.Context, tree *content.Tree, input Input) (Rendered, error)
}

// ClusterIndependent is implemented by renderers that read neither Input.KubeVersion nor Input.APIVersions, so that callers need not query
// the cluster for them.
type ClusterIndependent interface {
	Renderer
	// ClusterIndependent does nothing.
	ClusterIndependent()
}

// Input is what a renderer may use beside the content. Plain formats use none of it.
type Input struct {
	// Name of the installation; Helm's release name.
	Name string
	// Namespace that namespaced objects go to that name none; Helm's release namespace. Empty means DefaultNamespace.
	Namespace string
	// Path of the folder in the content that the format begins at, for those that refer to what is beside it (Kustomize).
	Path string
	// Values for formats that take some; nil for none.
	Values map[string]any
	// KubeVersion ("v1.36.3") and APIVersions ("apps/v1", "apps/v1/Deployment") of the cluster; empty means a library default.
	KubeVersion string
	APIVersions []string
	// Hooks says that the caller runs the hooks of a chart. Without it, content that has some is refused, for dropping them would break it.
	Hooks bool
	// Generated are the values that templates have generated for this installation, such as passwords: a render takes them, and makes those
	// that are missing. Nil: content that declares such values is refused, for they would be others each time.
	Generated *Generated
	// Explore asks also for what the content declares in other clusters, of formats that ask what the cluster serves. It takes many times
	// as long.
	Explore bool
}

// Generated are the results of functions that give something else each time, by their calls.
type Generated struct {
	// Installation that the values belong to. Renders are shared between equal inputs, and it tells apart two installations without values.
	// It is empty for callers that only look at what is declared: what is missing is no secret then, but the same for all of them, and must
	// not be applied.
	Installation string
	Values       map[string]json.RawMessage
	// Found are the answers of the cluster to what content looks up, by Lookup.String: an object as JSON, a list of them, or null.
	Found map[string]json.RawMessage
	// Revision counts the releases of the installation, from 1. A later one is an upgrade; 0 counts as 1.
	Revision int
}

// Rendered is what content declares.
type Rendered struct {
	// Steps are applied one after the other, the objects of each in the order of their kinds. Most formats have one step.
	Steps [][]*unstructured.Unstructured
	// Hooks are objects that are written at events and not with the others, see package hooks; none unless Input.Hooks asks for them.
	Hooks []*unstructured.Unstructured
	// Generated are the values of generators that are in the objects: those of the input that were used, and those that were missing. They are
	// to be kept before an object is applied. Nil where what is declared does not depend on any.
	Generated map[string]json.RawMessage
	// GeneratedAnew says that objects have new values, and that none of the source was kept before. No renderer tells it, see
	// engine.Rendering.
	GeneratedAnew bool
	// Lookups are what the content looked up in the cluster, and ByRevision says that an upgrade declares something else than an installation.
	// Only a render without an installation tells the second.
	Lookups    []Lookup
	ByRevision bool
	// Conditional are the objects that the content does not declare, or declares differently, for the cluster of the input, and would if that
	// served other APIs or were upgraded; one object may be there more than once. Untried is true where they may not be all. Both are empty
	// unless Input.Explore asks for them.
	Conditional []*unstructured.Unstructured
	Untried     bool
}

// Objects returns everything that is declared: the objects of all steps in order, and then the hooks.
func (r Rendered) Objects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, step := range r.Steps {
		all = append(all, step...)
	}
	return append(all, r.Hooks...)
}

// OneStep returns a single step of all objects, nil when there are none.
func OneStep(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	if len(objects) == 0 {
		return nil
	}
	return [][]*unstructured.Unstructured{objects}
}

// InFile adds the name of a file to an error and keeps its reason.
func InFile(name string, err error) error {
	if name == "" {
		return err
	}
	return content.Errorf(content.ReasonOf(err), "%s: %w", name, err)
}

// Interrupted returns an error when the context of a caller has ended, which says nothing about the content; nil otherwise.
func Interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return content.Errorf(content.ReasonInternal, "rendering was given up: %w", context.Cause(ctx))
}

// RefuseValues returns an error when there are values. It is for formats that have no place for values: leaving them out silently would
// look as if they counted.
func RefuseValues(input Input) error {
	if len(input.Values) == 0 {
		return nil
	}
	return &content.Error{
		Reason: content.ReasonValuesInvalid,
		Err:    errors.New("this format takes no values: remove them, or use a Helm chart"),
	}
}
