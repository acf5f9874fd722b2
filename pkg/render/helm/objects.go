package helm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	annotationResourcePolicy = "helm.sh/resource-policy"
	policyKeep               = "keep"
	// annotationKeep is apply.AnnotationKeep, which a test holds it to: this package needs nothing else of pkg/apply.
	annotationKeep = "operator.kyma-project.io/keep"
	// maxNamed is how many hooks an error names.
	maxNamed = 5
	// smallFile is what a file may grow to by its aliases, however short it is.
	smallFile = 16 << 10
)

// chartContent is what the files of one chart declare.
type chartContent struct {
	objects []*unstructured.Unstructured
	hooks   []chartHook
	seen    map[inventory.ID]chartDeclaration
}

// chartDeclaration is where an object was first declared.
type chartDeclaration struct {
	object *unstructured.Unstructured
	file   string
}

// chartObjects parses what was rendered.
func chartObjects(files []renderedFile) (*chartContent, error) {
	total := 0
	for _, file := range files {
		total += len(file.text)
	}
	if total > render.DefaultLimit {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"the rendered chart has more than %d MiB: make it smaller", render.DefaultLimit>>20)
	}
	gathered := &chartContent{seen: map[inventory.ID]chartDeclaration{}}
	for _, file := range files {
		// The limit follows the size, as it bounds what aliases may grow to.
		objects, err := render.Parse(strings.NewReader(file.text), max(int64(2*len(file.text)), smallFile))
		if err != nil {
			return nil, &content.Error{Reason: content.ReasonOf(err), Err: fmt.Errorf("%s of the rendered chart: %w", file.name, err)}
		}
		for _, object := range objects {
			if err := gathered.add(object, file.name); err != nil {
				return nil, err
			}
		}
	}
	return gathered, nil
}

// add takes in one object, as a hook or as an ordinary one. Tests are left out.
func (c *chartContent) add(object *unstructured.Unstructured, file string) error {
	hook := chartHook{object: object, file: file}
	isHook := false
	if annotation, annotated := object.GetAnnotations()[hooks.AnnotationEvents]; annotated {
		kind := kindOfHook(annotation, object)
		if kind == hookTest {
			return nil
		}
		isHook, hook.unknown = kind != hookNone, kind == hookUnknown
	}
	id := inventory.IDOf(object)
	if first, ok := c.seen[id]; ok {
		if reflect.DeepEqual(first.object.Object, object.Object) {
			return nil
		}
		return invalidChart("%s is declared differently in %s and in %s of the chart: keep one of them", id, first.file, file)
	}
	if len(c.seen) >= render.MaxObjects {
		return content.Errorf(content.ReasonContentTooLarge,
			"the chart declares more than %d objects: split it into several modules", render.MaxObjects)
	}
	c.seen[id] = chartDeclaration{object.DeepCopy(), file}
	if program := isHook && (hooks.Hook{Object: object}).RunsToCompletion(); !program { // one that was kept could not run again
		keepAsHelmDoes(object)
	}
	if isHook {
		c.hooks = append(c.hooks, hook)
	} else {
		c.objects = append(c.objects, object)
	}
	return nil
}

// all returns the objects and after them the hooks.
func (c *chartContent) all() []*unstructured.Unstructured {
	return slices.Concat(c.objects, c.hookObjects())
}

func (c *chartContent) hookObjects() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, hook := range c.hooks {
		objects = append(objects, hook.object)
	}
	return objects
}

// refused returns the hooks that stop the chart: all of them, or where hooks are run those that Helm itself would pass over in silence.
func (c *chartContent) refused(run bool) []chartHook {
	if !run {
		return c.hooks
	}
	return slices.DeleteFunc(slices.Clone(c.hooks), func(hook chartHook) bool { return !hook.unknown })
}

type hookKind int

const (
	// hookNone is an ordinary object: crd-install comes from Helm 2, where crds/ did not exist. So is every other definition, which Helm
	// never deletes either: it is upgraded like those of crds/, by the same rules.
	hookNone hookKind = iota
	hookTest
	hookRuns
	// hookUnknown has an event that Helm does not know.
	hookUnknown
)

func kindOfHook(annotation string, object *unstructured.Unstructured) hookKind {
	events, unknown := hooks.Events(annotation)
	switch {
	case len(unknown) > 0:
		return hookUnknown
	case len(events) > 0 && inventory.IDOf(object).GroupKind() != inventory.CRDKind:
		return hookRuns
	case len(events) == 0 && !strings.Contains(strings.ToLower(annotation), "crd-install"):
		return hookTest
	default:
		return hookNone
	}
}

func keepAsHelmDoes(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	if strings.EqualFold(strings.TrimSpace(annotations[annotationResourcePolicy]), policyKeep) {
		annotations[annotationKeep] = "true"
		object.SetAnnotations(annotations)
	}
}
