package modulelint

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Image is an image that a module needs, as a resource of its component version.
type Image struct {
	// Name of the resource; it is unique.
	Name string
	// Version of the resource: the tag if it is a semantic version, 0.0.0-<tag> otherwise, with +sha256.<12 hex> for a digest.
	Version string
	// Reference is complete, with its host: docker.io/library/redis:7.2.4 where the manifest has redis:7.2.4.
	Reference string
}

// podSpecs maps the kinds that run pods to the path of their pod spec.
var podSpecs = map[schema.GroupKind][]string{
	{Kind: "Pod"}:                        {"spec"},
	{Kind: "ReplicationController"}:      {"spec", "template", "spec"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template", "spec"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template", "spec"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template", "spec"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template", "spec"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template", "spec"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template", "spec"},
}

// Images lists the images that objects run or pass to their containers, and further ones that the configuration names; each once, by name.
// References that [Lint] refuses are left out.
func Images(objects []*unstructured.Unstructured, further ...string) []Image {
	var found []reference.Named
	for _, object := range objects {
		for _, use := range uses(object) {
			if use.problem == "" {
				found = append(found, use.image)
			}
		}
	}
	for _, text := range further {
		if named, problem, _ := parseImage(text); problem == "" {
			found = append(found, named)
		}
	}
	return named(found)
}

// use is one place where an object has a reference to an image.
type use struct {
	id      inventory.ID
	field   string
	text    string
	image   reference.Named
	problem string
	fix     string
}

// uses lists the references of an object: images of all types of containers, and values of environment variables and arguments that really
// are references.
func uses(object *unstructured.Unstructured) []use {
	id := inventory.IDOf(object)
	at, runs := podSpecs[id.GroupKind()]
	if !runs {
		return nil
	}
	pods, _, _ := unstructured.NestedFieldNoCopy(object.Object, at...)
	var found []use
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		eachOf(pods, list, func(i int, container map[string]any) {
			field := fmt.Sprintf("%s.%s[%d]", strings.Join(at, "."), list, i)
			found = append(found, ofContainer(id, field, container)...)
		})
	}
	return found
}

func ofContainer(id inventory.ID, field string, container map[string]any) []use {
	text, _ := container["image"].(string)
	image := use{id: id, field: field + ".image", text: text}
	image.image, image.problem, image.fix = parseImage(text)
	found := []use{image}
	add := func(field, text string) {
		if !isReference(text) {
			return
		}
		value := use{id: id, field: field, text: text}
		value.image, value.problem, value.fix = parseImage(text)
		found = append(found, value)
	}
	eachOf(container, "env", func(i int, variable map[string]any) {
		value, _ := variable["value"].(string)
		add(fmt.Sprintf("%s.env[%d].value", field, i), value)
	})
	for _, list := range []string{"command", "args"} {
		arguments, _ := container[list].([]any)
		for i, argument := range arguments {
			text, _ := argument.(string)
			if flag, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(flag, "-") {
				text = value
			}
			add(fmt.Sprintf("%s.%s[%d]", field, list, i), text)
		}
	}
	return found
}

// eachOf iterates over the mappings of a list. Malformed entries are left for the API server to refuse.
func eachOf(fields any, list string, each func(i int, fields map[string]any)) {
	parent, _ := fields.(map[string]any)
	entries, _ := parent[list].([]any)
	for i, entry := range entries {
		if fields, ok := entry.(map[string]any); ok {
			each(i, fields)
		}
	}
}

// images judges the references of the manifest and of the configuration.
func (l *linter) images(objects []*unstructured.Unstructured) {
	twins := map[string][]string{}
	note := func(named reference.Named) {
		key := path.Base(reference.Path(named)) + ":" + tagOf(named)
		if tagOf(named) != "" && !slices.Contains(twins[key], named.Name()) {
			twins[key] = append(twins[key], named.Name())
		}
	}
	for _, object := range objects {
		for _, use := range uses(object) {
			if use.problem != "" {
				l.inObject(l.manifest, use.id, RuleImage, diagnostics.Error, use.field, fmt.Sprintf("%s: %s", use.id, use.problem), use.fix)
				continue
			}
			note(use.image)
		}
	}
	for i, text := range l.Config.Images {
		named, problem, fix := parseImage(text)
		if problem != "" {
			l.inConfig(RuleImage, diagnostics.Error, fmt.Sprintf("images[%d]", i), problem, fix)
			continue
		}
		note(named)
	}
	for key, repositories := range twins {
		if len(repositories) > 1 {
			slices.Sort(repositories)
			l.findings = append(l.findings, diagnostics.Finding{
				Rule: RuleImageTwins, Severity: diagnostics.Warning, File: l.ManifestFile,
				Message: fmt.Sprintf("%s is in several repositories: %s", key, strings.Join(repositories, ", ")),
				Fix:     "give them different names or tags: copies of them cannot be told apart",
			})
		}
	}
}

// named turns references into resources. Where several have the same name, each gets a part of the digest of its reference as a suffix.
func named(references []reference.Named) []Image {
	byName, seen := map[string][]Image{}, map[string]bool{}
	for _, r := range references {
		if text := r.String(); !seen[text] {
			seen[text] = true
			image := Image{Name: resourceName(r), Version: resourceVersion(r), Reference: text}
			byName[image.Name] = append(byName[image.Name], image)
		}
	}
	images := make([]Image, 0, len(seen))
	for name, alike := range byName {
		for _, image := range alike {
			if len(alike) > 1 {
				image.Name = name + "-" + hexOf(image.Reference)[:8]
			}
			images = append(images, image)
		}
	}
	slices.SortFunc(images, func(a, b Image) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reference, b.Reference))
	})
	return images
}
