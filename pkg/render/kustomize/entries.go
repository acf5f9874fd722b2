package kustomize

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// fieldPath is a field of a kustomization file, whose entries are relative to folder.
type fieldPath struct {
	folder, file, name string
}

func (f fieldPath) field(name string) fieldPath {
	f.name = name
	return f
}

// String is "overlays/eu/kustomization.yaml: resources".
func (f fieldPath) String() string {
	if f.name == "" {
		return f.file
	}
	return f.file + ": " + f.name
}

func (f fieldPath) invalid(format string, args ...any) error {
	return content.Errorf(content.ReasonContentInvalid, "%s %s", f, fmt.Sprintf(format, args...))
}

// fieldEntries are the entries of one field and what is looked at in each.
type fieldEntries struct {
	field  string
	values []string
	check  func(at fieldPath, entry string) error
}

// check looks at entries one by one.
func (f fieldPath) check(all []fieldEntries) error {
	for _, entries := range all {
		for _, entry := range entries.values {
			if err := entries.check(f.field(entries.field), entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// entriesOf returns all entries of a kustomization that kustomize reads something for. A test holds that no field is forgotten.
func (w *walk) entriesOf(k *types.Kustomization, above []string) []fieldEntries {
	resource := func(at fieldPath, entry string) error { return w.resource(at, entry, above) }
	component := func(at fieldPath, entry string) error { return w.component(at, entry, above) }
	entries := []fieldEntries{
		{"helmCharts", charts(k), refuseChart},
		{"resources", k.Resources, resource},
		{"bases", k.Bases, resource}, //nolint:staticcheck // Deprecated, and kustomize reads it.
		{"components", k.Components, component},
		{"crds", k.Crds, w.definitions},
		{"configurations", k.Configurations, w.yamlFile},
		{"generators", k.Generators, w.plugins},
		{"transformers", k.Transformers, w.plugins},
		{"validators", k.Validators, w.plugins},
		{"patchesStrategicMerge", patchTexts(k.PatchesStrategicMerge), w.textOrFile}, //nolint:staticcheck // As above.
		{"openapi.path", present(k.OpenAPI["path"]), w.yamlFile},
	}
	for _, patch := range k.Patches {
		entries = append(entries, w.patch("patches", patch)...)
	}
	for _, patch := range k.PatchesJson6902 { //nolint:staticcheck // As above.
		entries = append(entries, w.patch("patchesJson6902", patch)...)
	}
	for _, replacement := range k.Replacements {
		entries = append(entries, fieldEntries{"replacements", present(replacement.Path), w.yamlFile})
	}
	for _, generator := range k.ConfigMapGenerator {
		entries = append(entries, sourcesOf("configMapGenerator", generator.KvPairSources, w.data)...)
	}
	for _, generator := range k.SecretGenerator {
		entries = append(entries, sourcesOf("secretGenerator", generator.KvPairSources, w.data)...)
	}
	return entries
}

// patch has the file of a patch, or its text.
func (w *walk) patch(field string, patch types.Patch) []fieldEntries {
	return []fieldEntries{
		{field, present(patch.Path), w.yamlFile},
		{field, present(patch.Patch), w.inline},
	}
}

// sourcesOf returns the files of a generator; those of "files" may have the key in front.
func sourcesOf(field string, sources types.KvPairSources, check func(fieldPath, string) error) []fieldEntries {
	return []fieldEntries{
		{field + ".env", present(sources.EnvSource), check},
		{field + ".envs", sources.EnvSources, check},
		{field + ".files", sources.FileSources, func(at fieldPath, entry string) error {
			if _, file, keyed := strings.Cut(entry, "="); keyed && !looksRemote(entry) {
				entry = file
			}
			return check(at, entry)
		}},
	}
}

// charts returns the names of charts that kustomize would render with a helm program.
func charts(k *types.Kustomization) []string {
	var names []string
	for _, chart := range k.HelmCharts {
		names = append(names, chart.Name)
	}
	for _, chart := range k.HelmChartInflationGenerator {
		names = append(names, chart.ChartName)
	}
	return names
}

func refuseChart(at fieldPath, name string) error {
	return at.invalid("holds chart %q, for which a helm program would have to run: install the chart by its own source "+
		"(type helm-chart), or put what it renders into the content", name)
}

// resource returns a file of objects or the folder of a kustomization.
func (w *walk) resource(at fieldPath, entry string, above []string) error {
	name, err := w.locate(at, entry)
	if err != nil {
		return err
	}
	if _, isFile := w.files[name]; isFile {
		text, err := w.yaml(at, entry)
		if err == nil {
			w.here.objects += w.objectsIn(text)
		}
		return err
	}
	return w.visit(name, above)
}

// component returns the folder of a kustomization.
func (w *walk) component(at fieldPath, entry string, above []string) error {
	name, err := w.locate(at, entry)
	if err != nil {
		return err
	}
	if !w.folders[name] {
		return at.invalid("refers to %q, which must be a folder", entry)
	}
	return w.visit(name, above)
}

// textOrFile returns a patch or, when it cannot be read as one, the name of its file.
func (w *walk) textOrFile(at fieldPath, entry string) error {
	if err := w.text(at, []byte(entry)); err != nil {
		return err
	}
	if _, err := w.parse.RF().SliceFromBytes([]byte(entry)); err == nil {
		return nil
	}
	return w.yamlFile(at, entry)
}

// locate returns the clean path of an entry that is part of the content.
func (w *walk) locate(at fieldPath, entry string) (string, error) {
	if w.entries++; w.entries > maxEntries {
		return "", content.Errorf(content.ReasonContentTooLarge,
			"%s: the kustomization has more than %d entries: make it simpler", at, maxEntries)
	}
	name := path.Join(at.folder, entry)
	switch _, isFile := w.files[name]; {
	case looksRemote(entry), path.IsAbs(entry), leadsOut(name):
		return "", &content.Error{
			Reason: content.ReasonRemoteBaseRefused,
			Err: fmt.Errorf("%s refers to %q, which is not part of the content: copy it into the content and refer to it by a relative path",
				at, shortened(entry)),
		}
	case entry == "":
		return "", at.invalid("has an empty entry: remove it")
	case isFile, w.folders[rooted(name)]:
		return rooted(name), nil
	default:
		return "", at.invalid("refers to %q, and the content has neither a file nor a folder of that name", shortened(entry))
	}
}

// rooted returns the name of the root as the walk has it.
func rooted(name string) string {
	if name == "." {
		return ""
	}
	return name
}

// joined returns the clean path of a file in a folder.
func joined(folder, name string) string { return rooted(path.Join(folder, name)) }

// leadsOut reports whether a clean relative path begins above the root.
func leadsOut(name string) bool { return name == ".." || strings.HasPrefix(name, "../") }

var gitUser = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// looksRemote reports whether kustomize could take an entry for a URL or a git repository. It says so too often rather than too rarely.
func looksRemote(entry string) bool {
	if u, err := url.Parse(entry); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return true
	}
	lower := strings.ToLower(entry)
	for _, prefix := range []string{"git::", "github.com/", "github.com:"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return strings.Contains(entry, "://") || gitUser.MatchString(entry)
}

// maxQuoted is how many characters of the content a message repeats.
const maxQuoted = 300

// shortened keeps what a message repeats of the content short.
func shortened(entry string) string {
	if runes := []rune(entry); len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + "..."
	}
	return entry
}

// present returns a list of what is there.
func present(entry string) []string {
	if entry == "" {
		return nil
	}
	return []string{entry}
}

func patchTexts(patches []types.PatchStrategicMerge) []string {
	texts := make([]string, 0, len(patches))
	for _, patch := range patches {
		texts = append(texts, string(patch))
	}
	return texts
}
