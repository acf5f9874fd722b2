package communitycatalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// BuildOptions are the annotations of a catalog.
type BuildOptions struct {
	// Source is the address that the catalog will have, written to every object; empty writes nothing.
	Source string
	// Updated is the day of the catalog; zero writes nothing, so that the same folder gives the same bytes on every day.
	Updated time.Time
	// Version and Expires limit how long the catalog is used, see Freshness; zero writes nothing.
	Version int64
	Expires time.Time
}

// Built is a catalog in its published forms.
type Built struct {
	// YAML and JSON have the same content: documents, and an array.
	YAML, JSON []byte
	// Collection is the parsed catalog.
	Collection Catalog
}

// heading is the first line of all-modules.yaml.
const heading = "# Made by kyma catalog build: change the files below modules instead.\n"

// Build makes a catalog from a folder. The same folder and options give the same bytes on every machine:
//
//  1. Modules are sorted by name, their releases first, then their versions from old to new; fields are sorted by name.
//  2. Everything in the files is kept, except namespaces and the annotations of an earlier build.
//  3. A file that cannot be read is an error, and so is a catalog that Parse would refuse. Lint reports other problems.
func Build(files fs.FS, options BuildOptions) (Built, error) {
	if options.Source != "" {
		if kind, err := kindOf(options.Source); err != nil || kind == Cluster {
			return Built{}, cmp.Or(err, invalid("a catalog is published at https:// or oci://"))
		}
	}
	entries, strays, err := walk(files)
	if err != nil {
		return Built{}, err
	}
	if len(strays) > 0 {
		return Built{}, fmt.Errorf("%s: %s (kyma catalog lint shows everything)", strays[0].file, strays[0].message)
	}
	slices.SortStableFunc(entries, compareEntries)
	var objects []*unstructured.Unstructured
	for _, e := range entries {
		objects = append(objects, options.published(e.object))
	}
	return encode(objects)
}

// compareEntries compares entries by their order in a catalog.
func compareEntries(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.module(), b.module()), moduleversion.Compare(a.version(), b.version()), cmp.Compare(a.file, b.file))
}

// module returns the module of an item, and version the version of a template; releases have none, and come first.
func (i *item) module() string {
	if i.release != nil {
		return i.release.Name
	}
	return i.template.ModuleName()
}

func (i *item) version() string {
	if i.release != nil {
		return ""
	}
	return i.template.ModuleVersion()
}

// published returns an object as it is in the catalog.
func (o BuildOptions) published(object *unstructured.Unstructured) *unstructured.Unstructured {
	made := object.DeepCopy()
	unstructured.RemoveNestedField(made.Object, "metadata", "namespace")
	notes := made.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	for _, written := range writtenNotes {
		delete(notes, written)
	}
	if o.Source != "" {
		notes[AnnotationSource] = o.Source
	}
	if !o.Updated.IsZero() {
		notes[AnnotationUpdated] = o.Updated.UTC().Format(time.RFC3339)
	}
	if o.Version > 0 {
		notes[AnnotationVersion] = strconv.FormatInt(o.Version, 10)
	}
	if !o.Expires.IsZero() {
		notes[AnnotationExpires] = o.Expires.UTC().Format(time.RFC3339)
	}
	made.SetAnnotations(notes)
	return made
}

// writtenNotes are the annotations that are written when a catalog is built or a template is taken from it; in a folder they have no
// meaning.
var writtenNotes = []string{AnnotationSource, AnnotationUpdated, AnnotationOrigin, AnnotationVersion, AnnotationExpires}

// encode encodes objects in both forms, and parses them again.
func encode(objects []*unstructured.Unstructured) (Built, error) {
	var text bytes.Buffer
	text.WriteString(heading)
	var array []map[string]any
	for _, object := range objects {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return Built{}, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		text.WriteString("---\n")
		text.Write(document)
		array = append(array, object.Object)
	}
	var list bytes.Buffer
	encoder := json.NewEncoder(&list)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(array); err != nil {
		return Built{}, fmt.Errorf("write %s: %w", FileJSON, err)
	}
	made := Built{YAML: text.Bytes(), JSON: list.Bytes()}
	var err error
	if made.Collection, err = Parse(made.YAML); err != nil {
		return Built{}, fmt.Errorf("%s: %w", FileYAML, err)
	}
	_, err = Parse(made.JSON)
	return made, errors.Join(err)
}
