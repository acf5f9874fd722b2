package permissions

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Image is an image that containers run or mount.
type Image struct {
	// Registry is the host that it comes from: docker.io when the reference names none.
	Registry string `json:"registry"`
	// Repository is the path in the registry: library/redis for redis.
	Repository string `json:"repository"`
	// Tag is empty when the reference has none.
	Tag string `json:"tag,omitempty"`
	// Digest is empty when the reference has none.
	Digest string `json:"digest,omitempty"`
}

// String returns the complete reference.
func (i Image) String() string { return i.name() + i.version() }

func (i Image) name() string { return i.Registry + "/" + i.Repository }

// version returns tag and digest as a reference has them: ":1.2.3@sha256:...".
func (i Image) version() string {
	text := ""
	if i.Tag != "" {
		text = ":" + i.Tag
	}
	if i.Digest != "" {
		text += "@" + i.Digest
	}
	return text
}

func compareImage(a, b Image) int {
	return cmp.Or(
		cmp.Compare(a.Registry, b.Registry), cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Digest, b.Digest),
	)
}

// moving are tags that name another image tomorrow.
var moving = []string{"", "latest", "main", "master", "edge", "nightly", "dev"}

// analyseImages lists the images of all containers.
func (b *builder) analyseImages() {
	for _, object := range b.objects {
		if object.GetKind() == kindDefinition {
			continue // schemas have examples
		}
		b.imagesBelow(object, object.Object)
	}
	slices.SortFunc(b.out.Images, compareImage)
	b.out.Images = slices.Compact(b.out.Images)
}

func (b *builder) imagesBelow(object *unstructured.Unstructured, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
			for _, container := range entries(value, list) {
				b.addImage(object, container["image"])
			}
		}
		for _, volume := range entries(value, "volumes") {
			mounted, _ := volume["image"].(map[string]any)
			b.addImage(object, mounted["reference"])
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			b.imagesBelow(object, value[key])
		}
	case []any:
		for _, item := range value {
			b.imagesBelow(object, item)
		}
	}
}

// entries returns the maps of a list.
func entries(fields map[string]any, list string) []map[string]any {
	items, _ := fields[list].([]any)
	var found []map[string]any
	for _, item := range items {
		if entry, ok := item.(map[string]any); ok {
			found = append(found, entry)
		}
	}
	return found
}

func (b *builder) addImage(object *unstructured.Unstructured, value any) {
	text, ok := value.(string)
	if !ok || text == "" {
		return
	}
	image, err := parseImage(text)
	if err != nil {
		b.add(Finding{
			Key: joinKey("image", "unreadable", escapes.Replace(text)), Category: CategoryImage, Severity: Medium, Rule: place(object),
			Sentence: "Runs an image whose name cannot be read: " + short(text) + ".",
		})
		return
	}
	b.out.Images = append(b.out.Images, image)
	if image.Digest == "" && slices.Contains(moving, image.Tag) {
		b.add(Finding{
			Key: joinKey("image", "moving", image.String()), Category: CategoryImage, Severity: Low, Rule: place(object),
			Sentence: "Runs " + short(image.name()) + " without a fixed version, so that its content may change by itself.",
		})
	}
}

func parseImage(text string) (Image, error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return Image{}, err
	}
	image := Image{Registry: reference.Domain(named), Repository: reference.Path(named)}
	if tagged, ok := named.(reference.Tagged); ok {
		image.Tag = tagged.Tag()
	}
	if digested, ok := named.(reference.Digested); ok {
		image.Digest = digested.Digest().String()
	}
	return image, nil
}

// addedFinding tells that a repository is new.
func (i Image) addedFinding() Finding {
	return Finding{
		Key: joinKey("image", "new", i.name()), Category: CategoryImage, Severity: Low, Sentence: "Runs images from " + short(i.name()) + ".",
	}
}

// compareImages compares images by repository.
func compareImages(before, after []Image) (added, removed []Image, changed []ImageChange) {
	was, is := byRepository(before), byRepository(after)
	for _, image := range after {
		if was[image.name()] == nil {
			added = append(added, image)
		}
	}
	for _, image := range before {
		if is[image.name()] == nil {
			removed = append(removed, image)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] == nil || slices.Equal(versions(was[name]), versions(is[name])) {
			continue
		}
		registry, repository, _ := strings.Cut(name, "/")
		changed = append(changed, ImageChange{registry, repository, versions(was[name]), versions(is[name])})
	}
	return added, removed, changed
}

func byRepository(images []Image) map[string][]Image {
	found := map[string][]Image{}
	for _, image := range images {
		found[image.name()] = append(found[image.name()], image)
	}
	return found
}

func versions(images []Image) []string {
	texts := make([]string, len(images))
	for i, image := range images {
		texts[i] = image.version()
	}
	slices.Sort(texts)
	return texts
}
