package helm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	annotationHook           = "helm.sh/hook"
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
	seen    map[inventory.ID]chartDeclaration
	hooks   []chartHook
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

// add takes in one object, or notes that it is a hook.
func (c *chartContent) add(object *unstructured.Unstructured, file string) error {
	if events, isHook := object.GetAnnotations()[annotationHook]; isHook {
		switch kindOfHook(events) {
		case hookTest:
			return nil
		case hookOther:
			c.hooks = append(c.hooks, chartHook{fmt.Sprintf("%s (%s)", inventory.IDOf(object), shorten(events)), file})
			return nil
		case hookNone:
		}
	}
	id := inventory.IDOf(object)
	if first, ok := c.seen[id]; ok {
		if reflect.DeepEqual(first.object.Object, object.Object) {
			return nil
		}
		return invalidChart("%s is declared differently in %s and in %s of the chart: keep one of them", id, first.file, file)
	}
	if len(c.objects) >= render.MaxObjects {
		return content.Errorf(content.ReasonContentTooLarge,
			"the chart declares more than %d objects: split it into several modules", render.MaxObjects)
	}
	c.seen[id] = chartDeclaration{object.DeepCopy(), file}
	keepAsHelmDoes(object)
	c.objects = append(c.objects, object)
	return nil
}

type hookKind int

const (
	// hookNone is an ordinary object: crd-install comes from Helm 2, where crds/ did not exist.
	hookNone hookKind = iota
	hookTest
	hookOther
)

func kindOfHook(events string) hookKind {
	var names []string
	for event := range strings.SplitSeq(events, ",") {
		names = append(names, strings.ToLower(strings.TrimSpace(event)))
	}
	only := func(allowed ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(allowed, name) })
	}
	switch {
	case only("test", "test-success", "test-failure"):
		return hookTest
	case only("crd-install"):
		return hookNone
	default:
		return hookOther
	}
}

func keepAsHelmDoes(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	if strings.EqualFold(strings.TrimSpace(annotations[annotationResourcePolicy]), policyKeep) {
		annotations[annotationKeep] = "true"
		object.SetAnnotations(annotations)
	}
}
