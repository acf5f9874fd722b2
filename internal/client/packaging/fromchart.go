package packaging

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// copiedChart is the folder that a chart from elsewhere is copied to.
const copiedChart = "chart"

// maxSwitches is how many values are tried that may bring the definitions of a chart: each costs a render.
const maxSwitches = 6

// ChartDraft describes a module that installs a chart.
type ChartDraft struct {
	// Draft may lack a name and a version: then they are the chart's.
	Draft
	// Chart is a folder with a Chart.yaml, or a packed chart. One that is not in the module's directory is copied there.
	Chart string
	// Values are set over those of the chart.
	Values map[string]any
}

// chartWords are the values for the placeholders of a module with a chart, as they are written in YAML.
type chartWords struct {
	filled

	Chart, Manifest, Values         string
	Repository, Documentation, Icon string
}

// ScaffoldChart writes a module that installs a chart: its configuration, and the chart where it is not in the directory yet. An empty
// directory means one with the name of the chart. Like Scaffold, it writes everything or nothing. Of the values only those are written that
// differ from the defaults of the chart; where it leaves out its definitions by default and has a value that brings them, that is set.
func ScaffoldChart(ctx context.Context, dir string, draft ChartDraft) (*Scaffolded, error) {
	tree, err := readTree(ctx, draft.Chart)
	if err != nil {
		return nil, err
	}
	about, err := helm.Describe(tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", draft.Chart, err)
	}
	draft.Name = cmp.Or(draft.Name, about.Name)
	draft.Version = cmp.Or(draft.Version, moduleVersionOf(about.Version))
	words, err := draft.words()
	if err != nil {
		return nil, fmt.Errorf("%s: %w; a module can have another name and version than its chart", draft.Chart, err)
	}
	dir = cmp.Or(dir, words.Module)
	if err := draft.free(dir); err != nil {
		return nil, err
	}
	done := &Scaffolded{Name: words.Name, Dir: dir}
	values := done.look(ctx, tree, words.Module, about.Values, draft.Values)
	place, files, err := placeChart(dir, draft.Chart, tree)
	if err != nil {
		return nil, err
	}
	text, err := chartWords{
		filled: words, Chart: strconv.Quote(about.Name + " " + about.Version), Manifest: inYAML(place),
		Values:        indented(values),
		Repository:    firstLink("https://github.com/example/"+words.Module, append([]string{about.Home}, about.Sources...)...),
		Documentation: firstLink("https://github.com/example/"+words.Module+"/blob/main/README.md", about.Home),
		Icon:          firstLink("https://raw.githubusercontent.com/example/"+words.Module+"/main/icon.svg", about.Icon),
	}.fill()
	if err != nil {
		return nil, err
	}
	// The configuration comes last, since it turns the directory into a module.
	files = append(files, content.File{Path: ConfigFile, Data: text})
	if err := done.into(dir, func() error { return done.writeAll(dir, files, draft.Overwrite) }); err != nil {
		return nil, err
	}
	return done, nil
}

// writeAll writes files that must not be there yet, but for the configuration if overwrite is set.
func (s *Scaffolded) writeAll(dir string, files []content.File, overwrite bool) error {
	for _, file := range files {
		name := filepath.Join(dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a directory of sources, as mkdir makes it
			return err
		}
		kept, err := create(name, file.Data, file.Path == ConfigFile && overwrite)
		if err == nil && kept {
			err = fmt.Errorf("%s: %w", name, fs.ErrExist)
		}
		if err != nil {
			removeEmpty(filepath.Dir(name), dir)
			return err
		}
		s.Written = append(s.Written, name)
	}
	return nil
}

// look renders the chart, notes what its author should know, and returns the values that the module sets.
func (s *Scaffolded) look(ctx context.Context, tree *content.Tree, name string, defaults, values map[string]any) map[string]any {
	values = helm.WithoutDefaults(values, defaults)
	rendered, err := renderOnce(ctx, tree, name, values)
	if err != nil {
		s.Notes = append(s.Notes, "The chart cannot be rendered yet: "+err.Error())
		return values
	}
	set, path := bringsDefinitions(ctx, tree, name, defaults, values, definitionsIn(rendered))
	if path != "" {
		s.Notes = append(s.Notes, path+" is set to true: without it, the chart leaves out its definitions.")
		values = set
	}
	if hooks := len(rendered.Hooks); hooks > 0 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("The chart has hooks (%d): they run around installation, upgrade and removal, as with Helm.", hooks))
	}
	if len(rendered.Generated) > 0 {
		s.Notes = append(s.Notes, "The chart generates values such as passwords: each installation makes them once and keeps them.")
	}
	return values
}

func renderOnce(ctx context.Context, tree *content.Tree, name string, values map[string]any) (render.Rendered, error) {
	return helm.Renderer{}.Render(ctx, chartFolder(tree, name), render.Input{
		Name: name, Namespace: name + "-system", Values: values, Hooks: true, Generated: &render.Generated{},
	})
}

// definitionsIn counts the CustomResourceDefinitions of a chart.
func definitionsIn(rendered render.Rendered) int {
	count := 0
	for _, object := range rendered.Objects() {
		if inventory.IDOf(object).GroupKind() == inventory.CRDKind {
			count++
		}
	}
	return count
}

// bringsDefinitions returns the values with the one that makes the chart declare more definitions than it does, and its path; an empty path
// if there is none. Values that are false and whose name speaks of CRDs are tried.
func bringsDefinitions(
	ctx context.Context, tree *content.Tree, name string, defaults, values map[string]any, has int,
) (with map[string]any, path string) {
	tries := switchesOf(helm.MergeValues(defaults, values), nil)
	for _, at := range tries[:min(len(tries), maxSwitches)] {
		set := helm.MergeValues(values, nested(at, true))
		rendered, err := renderOnce(ctx, tree, name, set)
		if err == nil && definitionsIn(rendered) > has {
			return set, strings.Join(at, ".")
		}
	}
	return values, ""
}

// switchesOf returns the paths of the values that are false and whose name speaks of CRDs, in the order of their names.
func switchesOf(values map[string]any, below []string) (found [][]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := append(slices.Clone(below), key)
		switch value := values[key].(type) {
		case map[string]any:
			found = append(found, switchesOf(value, at)...)
		case bool:
			if !value && strings.Contains(strings.ToLower(strings.Join(at, ".")), "crd") {
				found = append(found, at)
			}
		}
	}
	return found
}

// nested returns values with one value at a path.
func nested(at []string, value any) map[string]any {
	for _, key := range slices.Backward(at) {
		value = map[string]any{key: value}
	}
	values, _ := value.(map[string]any)
	return values
}

// placeChart returns the path of a chart relative to the module's directory, and the files that have to be written there first: none where
// the chart is in the directory.
func placeChart(dir, chart string, tree *content.Tree) (place string, files []content.File, err error) {
	within, err := relativeTo(dir, chart)
	if err != nil {
		return "", nil, err
	}
	if filepath.IsLocal(within) {
		return filepath.ToSlash(within), nil, nil
	}
	info, err := os.Stat(chart)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(chart)
		return filepath.Base(chart), []content.File{{Path: filepath.Base(chart), Data: text}}, err
	}
	if _, err := os.Lstat(filepath.Join(dir, copiedChart)); err == nil {
		return "", nil, fmt.Errorf("%s: %w", filepath.Join(dir, copiedChart), fs.ErrExist)
	}
	for _, file := range tree.Files {
		files = append(files, content.File{Path: copiedChart + "/" + file.Path, Data: file.Data})
	}
	return copiedChart, files, nil
}

func relativeTo(dir, chart string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(chart)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// moduleVersionOf returns the version of a chart as a module has it: without a leading v and without metadata of the build. One that is no
// semantic version stays, so that its refusal names it.
func moduleVersionOf(version string) string {
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return version
	}
	return semver.New(parsed.Major(), parsed.Minor(), parsed.Patch(), parsed.Prerelease(), "").String()
}

// firstLink returns the first text that is a link with https, in YAML; otherwise another one.
func firstLink(otherwise string, texts ...string) string {
	for _, text := range texts {
		link, err := url.Parse(text)
		if err == nil && link.Scheme == "https" && link.Hostname() != "" && link.User == nil && !strings.Contains(text, " ") {
			return inYAML(text)
		}
	}
	return inYAML(otherwise)
}

// indented returns values as they stand below their key; empty for none.
func indented(values map[string]any) string {
	if len(values) == 0 {
		return ""
	}
	return "  " + strings.ReplaceAll(inYAML(values), "\n", "\n  ")
}

// inYAML returns a value as YAML, without the line break at the end.
func inYAML(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		panic(err) // texts, and values that came from YAML
	}
	return strings.TrimSuffix(string(text), "\n")
}

// ReadValues reads values from files, the last of which counts first, as for `helm -f`.
func ReadValues(ctx context.Context, files []string) (map[string]any, error) {
	values := map[string]any{}
	for _, file := range files {
		text, err := userfile.Read(ctx, file)
		if err != nil {
			return nil, err
		}
		more, err := helm.Values(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		values = helm.MergeValues(values, more)
	}
	return values, nil
}
