package kustomize

import (
	"encoding/json"
	"net/url"
	"regexp"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxPlugins is how many plugins one text or file may set.
const maxPlugins = 1000

// builtinPlugins are the generators and transformers that are part of kustomize, and whether their settings can name files.
var builtinPlugins = map[string]bool{
	"AnnotationsTransformer":         false,
	"ConfigMapGenerator":             true,
	"HashTransformer":                false,
	"IAMPolicyGenerator":             false,
	"ImageTagTransformer":            false,
	"LabelTransformer":               false,
	"NamespaceTransformer":           false,
	"PatchJson6902Transformer":       true,
	"PatchStrategicMergeTransformer": true,
	"PatchTransformer":               true,
	"PrefixSuffixTransformer":        false,
	"PrefixTransformer":              false,
	"ReplacementTransformer":         true,
	"ReplicaCountTransformer":        false,
	"SecretGenerator":                true,
	"SuffixTransformer":              false,
	"ValueAddTransformer":            true,
}

// pluginSettings are the settings of built-in plugins that name files or hold patches.
type pluginSettings struct {
	Path           string                      `json:"path"`
	Patch          string                      `json:"patch"`
	JSONOp         string                      `json:"jsonOp"`
	Paths          []types.PatchStrategicMerge `json:"paths"`
	Patches        string                      `json:"patches"`
	Replacements   []types.ReplacementField    `json:"replacements"`
	TargetFilePath string                      `json:"targetFilePath"`
	types.KvPairSources
}

// plugins looks at an entry of generators, transformers or validators: the settings of plugins, or the name of a file that has them.
func (w *walk) plugins(at fieldPath, entry string) error {
	if err := w.text(at, []byte(entry)); err != nil {
		return err
	}
	settings, err := w.pluginsIn(at, []byte(entry))
	if content.ReasonOf(err) == content.ReasonContentTooLarge {
		return err
	}
	if err != nil {
		// As kustomize does: what cannot be read as settings is the name of a file, whatever it looks like.
		name, err := w.locate(at, entry)
		if err != nil {
			return err
		}
		if _, isFile := w.files[name]; !isFile {
			return at.invalid("refers to folder %q: name the files with the settings one by one", entry)
		}
		text, err := w.yaml(at, entry)
		if err != nil {
			return err
		}
		if settings, err = w.pluginsIn(at, text); err != nil {
			return err
		}
	}
	for _, plugin := range settings {
		if err := w.plugin(at, plugin); err != nil {
			return err
		}
	}
	return nil
}

// pluginsIn reads settings, and refuses more of them than can be compared with each other.
func (w *walk) pluginsIn(at fieldPath, text []byte) ([]*resource.Resource, error) {
	count := w.objectsIn(text)
	if count > maxPlugins {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"%s has %d plugins in one text and %d are accepted: make it simpler", at, count, maxPlugins)
	}
	w.here.changes += count
	settings, err := w.parse.NewResMapFromBytes(text)
	if err != nil {
		return nil, render.InFile(at.String(), w.failed(at.folder, err))
	}
	return settings.Resources(), nil
}

func (w *walk) plugin(at fieldPath, plugin *resource.Resource) error {
	kind := plugin.GetGvk()
	namesFiles, known := builtinPlugins[kind.Kind]
	if !known || kind.Group != "" || kind.Version != konfig.BuiltinPluginApiVersion {
		return at.invalid("names %s %q, which is not built into kustomize: programs and charts of the content are not run, put what it makes "+
			"into the content", kind.Kind, plugin.GetName())
	}
	if !namesFiles {
		return nil
	}
	text, err := plugin.AsYAML()
	if err != nil {
		return render.InFile(at.String(), w.failed(at.folder, err))
	}
	var settings pluginSettings
	if err := yaml.Unmarshal(text, &settings); err != nil {
		return render.InFile(at.String(), w.failed(at.folder, err))
	}
	return w.settings(at.field(at.name+", "+kind.Kind), settings)
}

func (w *walk) settings(at fieldPath, settings pluginSettings) error {
	entries := append(sourcesOf(at.name, settings.KvPairSources, w.data),
		fieldEntries{at.name, present(settings.Path), w.yamlFile},
		fieldEntries{at.name, present(settings.TargetFilePath), w.yamlFile},
		fieldEntries{at.name, patchTexts(settings.Paths), w.textOrFile},
		fieldEntries{at.name, []string{settings.Patch, settings.Patches, settings.JSONOp}, w.inline},
	)
	for _, replacement := range settings.Replacements {
		entries = append(entries, fieldEntries{at.name, present(replacement.Path), w.yamlFile})
	}
	return at.check(entries)
}

// maxReferences bounds what kustomize follows from one definition to the next.
const maxReferences = 10_000

// plainReference is one that means the same however it is normalised.
var plainReference = regexp.MustCompile(`^[a-zA-Z0-9._#-]+(/[a-zA-Z0-9._#-]+)*$`)

// openAPIDefinition is the part of an OpenAPI definition that kustomize follows.
type openAPIDefinition struct {
	Schema struct {
		Properties map[string]struct {
			Ref string `json:"$ref"`
		} `json:"properties"`
	} `json:"Schema"`
}

// definitions looks at a file of "crds". Kustomize follows its references without end, until its stack and with it the process is
// exhausted; so definitions that refer to themselves are refused.
func (w *walk) definitions(at fieldPath, entry string) error {
	text, err := w.yaml(at, entry)
	if err != nil {
		return err
	}
	known := map[string]openAPIDefinition{}
	if len(text) > 0 && text[0] == '{' {
		err = json.Unmarshal(text, &known)
	} else {
		err = yaml.Unmarshal(text, &known)
	}
	if err != nil {
		return at.invalid("refers to %q, which cannot be read as OpenAPI definitions", entry)
	}
	steps := 0
	var follow func(name string) error
	follow = func(name string) error {
		for _, property := range known[name].Schema.Properties {
			if steps++; steps > maxReferences {
				return at.invalid("refers to %q, whose definitions refer to themselves or too often to each other", entry)
			}
			if property.Ref == "" {
				continue
			}
			if _, err := url.Parse(property.Ref); err != nil || !plainReference.MatchString(property.Ref) {
				return at.invalid("refers to %q, whose reference %q is not the name of a definition", entry, shortened(property.Ref))
			}
			if err := follow(property.Ref); err != nil {
				return err
			}
		}
		return nil
	}
	for name := range known {
		if err := follow(name); err != nil {
			return err
		}
	}
	return nil
}
