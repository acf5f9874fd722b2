package kustomize

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Caps of a build, counted as kustomize works: a base that is used twice counts twice.
const (
	maxKustomizations     = 1000
	maxKustomizationDepth = 32
	maxEntries            = 20_000
)

// secretKind finds what may hold a Secret: its manifest, a patch of one, a generator.
var secretKind = regexp.MustCompile(`\b(kind["']?\s*:\s*["']?Secret|secretGenerator)`)

// walk looks at everything that kustomize would read, in the order in which it does:
//
//  1. An entry that kustomize could take for remote (see looksRemote) is refused, also when a file of that name exists.
//  2. So are absolute paths, paths that lead out of the content, and what the content does not have.
//  3. Charts and programs are refused: helmCharts, plugins that are not built in, and folders of plugins, whose result is unknown
//     before they are built.
//  4. Folders are kustomizations and are walked in turn, until a cap or a cycle.
//  5. What is read as YAML counts with its aliases written out, and objects by the work that they make.
//
// The library's own types and parsers read the files, so that both see the same.
type walk struct {
	files   map[string][]byte
	folders map[string]bool
	parse   *resmap.Factory

	// left is how many bytes may still be read.
	left                    int64
	kustomizations, entries int
	// work is what was added up, here what the kustomization at hand has so far.
	work int64
	here buildWork

	// read has the files that the build needs.
	read map[string][]byte
	// ownSchema: the build brings an OpenAPI schema. secret: it has a Secret somewhere.
	ownSchema, secret bool
}

func newWalk(tree *content.Tree) *walk {
	files := make(map[string][]byte, len(tree.Files))
	for _, file := range tree.Files {
		files[file.Path] = file.Data
	}
	return &walk{
		files: files, folders: foldersOf(files), left: render.DefaultLimit, read: map[string][]byte{},
		parse: resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()),
	}
}

// visit walks the kustomization of a folder; above are the folders that led to it.
func (w *walk) visit(folder string, above []string) error {
	if slices.Contains(above, folder) {
		names := make([]string, 0, len(above)+1)
		for _, name := range append(slices.Clone(above), folder) {
			names = append(names, folderName(name))
		}
		return content.Errorf(content.ReasonContentInvalid, "the kustomization refers to itself: %s", strings.Join(names, ", then "))
	}
	if w.kustomizations++; w.kustomizations > maxKustomizations || len(above) >= maxKustomizationDepth {
		return content.Errorf(content.ReasonContentTooLarge,
			"%s: the kustomization has more than %d others below it, or more than %d above each other: make it simpler",
			folderName(folder), maxKustomizations, maxKustomizationDepth)
	}
	at, kustomization, err := w.open(folder)
	if err != nil {
		return err
	}
	beside := w.here
	w.here = buildWork{}
	if err := at.check(w.entriesOf(kustomization, append(slices.Clone(above), folder))); err != nil {
		return err
	}
	if err := w.tally(at, kustomization, w.here); err != nil {
		return err
	}
	w.here.objects += beside.objects
	w.here.changes += beside.changes
	return nil
}

// open reads the one kustomization file of a folder.
func (w *walk) open(folder string) (fieldPath, *types.Kustomization, error) {
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if _, ok := w.files[joined(folder, name)]; ok {
			found = append(found, joined(folder, name))
		}
	}
	if len(found) != 1 {
		return fieldPath{}, nil, content.Errorf(content.ReasonContentInvalid,
			"the %s has %d files of the names %s and needs one", folderName(folder), len(found),
			strings.Join(konfig.RecognizedKustomizationFileNames(), ", "))
	}
	at := fieldPath{folder: folder, file: found[0]}
	text := w.files[found[0]]
	if err := w.text(at, text); err != nil {
		return at, nil, err
	}
	w.read[found[0]] = text
	kustomization := &types.Kustomization{}
	if err := kustomization.Unmarshal(text); err != nil {
		return at, nil, render.InFile(found[0], w.failed(folder, err))
	}
	w.secret = w.secret || len(kustomization.SecretGenerator) > 0
	w.ownSchema = w.ownSchema || len(kustomization.OpenAPI) > 0
	return at, kustomization, nil
}

// text counts what is going to be read as YAML, and refuses what would not end.
func (w *walk) text(at fieldPath, text []byte) error {
	w.secret = w.secret || secretKind.Match(text)
	size, err := writtenOut(text)
	if err != nil {
		return at.invalid("is malformed: %v", err)
	}
	return w.count(at, size)
}

func (w *walk) count(at fieldPath, size int64) error {
	if w.left -= size; w.left < 0 {
		return content.Errorf(content.ReasonContentTooLarge,
			"%s: kustomize would read more than %d bytes, each file as often as it is used and with its aliases written out: "+
				"make the content smaller", at, int64(render.DefaultLimit))
	}
	return nil
}

// data returns a file that is taken as it is.
func (w *walk) data(at fieldPath, entry string) error {
	data, err := w.find(at, entry)
	if err != nil {
		return err
	}
	return w.count(at, int64(len(data)))
}

// yaml returns a file that is read as YAML.
func (w *walk) yaml(at fieldPath, entry string) ([]byte, error) {
	data, err := w.find(at, entry)
	if err != nil {
		return nil, err
	}
	return data, w.text(at, data)
}

// yamlFile is yaml for those who do not look into the file.
func (w *walk) yamlFile(at fieldPath, entry string) error {
	_, err := w.yaml(at, entry)
	return err
}

// inline is text of the kustomization itself that is read as YAML again.
func (w *walk) inline(at fieldPath, text string) error {
	return w.text(at, []byte(text))
}

// find returns the file that an entry names.
func (w *walk) find(at fieldPath, entry string) ([]byte, error) {
	name, err := w.locate(at, entry)
	if err != nil {
		return nil, err
	}
	data, ok := w.files[name]
	if !ok {
		return nil, at.invalid("refers to %q, which must be a file", entry)
	}
	w.read[name] = data
	return data, nil
}
