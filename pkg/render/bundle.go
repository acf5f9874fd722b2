package render

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// bundleFolder is where a plain bundle has its objects.
const bundleFolder = "manifests"

// numbered is a file name that says when its objects are applied: digits and an underscore in front.
var numbered = regexp.MustCompile(`^([0-9]+)_`)

// Bundle is a plain bundle (plain+v0): the objects are in the files of the folder "manifests", which has no folders of its own. What
// else the content has beside that folder does not count. Nothing is evaluated: "{{" is text.
//
//  1. Every file of the folder must be YAML or JSON documents, whatever its name; one at least must declare an object.
//  2. No object is declared in two files, not even alike: each belongs to one step.
//  3. Files named by a number and "_" (01_namespace.yaml) are applied step by step in the order of the numbers, the same number together.
//  4. Files without a number are applied together in a last step.
type Bundle struct{}

// Render reads the files of the bundle in the order of their names.
func (Bundle) Render(ctx context.Context, tree *content.Tree, input Input) (Rendered, error) {
	if err := RefuseValues(input); err != nil {
		return Rendered{}, err
	}
	files, err := bundleFiles(tree)
	if err != nil {
		return Rendered{}, err
	}
	reading := bundleReader{left: DefaultLimit, declared: map[inventory.ID]string{}}
	var rendered Rendered
	step := ""
	for i, file := range files {
		if err := Interrupted(ctx); err != nil {
			return Rendered{}, err
		}
		objects, err := reading.read(file)
		if err != nil {
			return Rendered{}, err
		}
		if number := stepOf(file); i == 0 || number != step {
			step = number
			rendered.Steps = append(rendered.Steps, nil)
		}
		last := len(rendered.Steps) - 1
		rendered.Steps[last] = append(rendered.Steps[last], objects...)
	}
	if len(reading.declared) == 0 {
		return Rendered{}, content.Errorf(content.ReasonContentInvalid,
			"the files of folder %q declare no object: put one at least there", bundleFolder)
	}
	rendered.Steps = slices.DeleteFunc(rendered.Steps, func(objects []*unstructured.Unstructured) bool { return len(objects) == 0 })
	return rendered, nil
}

// ClusterIndependent implements ClusterIndependent.
func (Bundle) ClusterIndependent() {}

// bundleFiles returns the files that count, in the order in which they are applied.
func bundleFiles(tree *content.Tree) ([]content.File, error) {
	var files []content.File
	size := 0
	for _, file := range tree.Files {
		name, inside := strings.CutPrefix(file.Path, bundleFolder+"/")
		if folder, _, nested := strings.Cut(name, "/"); inside && nested {
			return nil, content.Errorf(content.ReasonContentInvalid,
				"%s: folder %q of the bundle must not have folders: move the files of %q up into it",
				path.Join(bundleFolder, folder), bundleFolder, folder)
		}
		if inside && !strings.HasPrefix(name, "._") {
			files = append(files, file)
			size += len(file.Data)
		}
	}
	if len(files) == 0 {
		return nil, content.Errorf(content.ReasonContentInvalid,
			"the bundle has no files in a folder %q at its root: put the objects there", bundleFolder)
	}
	if size > DefaultLimit {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"the files of folder %q have %d bytes and %d are accepted: make them smaller", bundleFolder, size, DefaultLimit)
	}
	slices.SortFunc(files, func(a, b content.File) int {
		return cmp.Or(compareSteps(stepOf(a), stepOf(b)), strings.Compare(a.Path, b.Path))
	})
	return files, nil
}

// stepOf returns the number of the step in digits without leading zeros, so that 1_ and 01_ are one step; "" when there is none.
func stepOf(file content.File) string {
	found := numbered.FindStringSubmatch(path.Base(file.Path))
	if found == nil {
		return ""
	}
	return cmp.Or(strings.TrimLeft(found[1], "0"), "0")
}

// compareSteps orders by number, whatever its length; no number is last.
func compareSteps(a, b string) int {
	switch {
	case a == "" && b == "":
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	default:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
}

// bundleReader reads one file after the other.
type bundleReader struct {
	// left is how many bytes the files may still take with their aliases written out, which no single file knows.
	left int64
	// declared has the file of each object.
	declared map[inventory.ID]string
}

func (r *bundleReader) read(file content.File) ([]*unstructured.Unstructured, error) {
	size := int64(len(file.Data))
	if size > r.left {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"%s: the bundle is too large once the aliases of its files are written out", file.Path)
	}
	objects, err := Parse(bytes.NewReader(file.Data), r.left)
	if err != nil {
		return nil, InFile(file.Path, err)
	}
	if bytes.ContainsRune(file.Data, '*') && bytes.ContainsRune(file.Data, '&') {
		size = max(size, sizeOf(objects))
	}
	r.left -= size
	for _, object := range objects {
		id := inventory.IDOf(object)
		if first, ok := r.declared[id]; ok {
			return nil, content.Errorf(content.ReasonContentInvalid, "%s is declared in %s and in %s: keep one of them", id, first, file.Path)
		}
		if len(r.declared) >= MaxObjects {
			return nil, content.Errorf(content.ReasonContentTooLarge,
				"the bundle declares more than %d objects: split it into several modules", MaxObjects)
		}
		r.declared[id] = file.Path
	}
	return objects, nil
}

// sizeOf is about what the objects take in writing.
func sizeOf(objects []*unstructured.Unstructured) int64 {
	var size int64
	for _, object := range objects {
		size += int64(len(fmt.Sprint(object.Object)))
	}
	return size
}
