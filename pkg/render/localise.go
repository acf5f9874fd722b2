package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// imageKey is by what two references to an image are the same one in two places.
type imageKey struct {
	// name is the last segment of the repository's path.
	name string
	// version is the tag; the digest where there is no tag.
	version string
}

// keyOf reads a reference by Docker's grammar. One with neither tag nor digest names no version, and so has no key.
func keyOf(text string) (key imageKey, ok bool, err error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return imageKey{}, false, err
	}
	key.name = path.Base(reference.Path(named))
	if tagged, ok := named.(reference.Tagged); ok {
		key.version = tagged.Tag()
	} else if digested, ok := named.(reference.Digested); ok {
		key.version = digested.Digest().String()
	}
	return key, key.version != "", nil
}

// LocaliseImages makes objects take their images from where images say, and returns changed objects as copies:
//
//  1. Images of containers and initContainers, and values of their environment variables, are looked at; a value only as a whole.
//  2. Two references are of the same image when the last segment of their path and their tag are equal; references without a tag when
//     that segment and their digest are equal. One with neither matches none.
//  3. The reference is then replaced by that of images as a whole: host, path and digest.
//  4. A digest is never replaced by another one: a reference with a digest takes host and path only, from one that has the same or none.
//  5. A reference that images has stays. If several others would do, it is an error: which one was meant cannot be known.
//
// What is no reference stays as it is; in images it is an error.
func LocaliseImages(objs []*unstructured.Unstructured, images []string) ([]*unstructured.Unstructured, error) {
	if len(images) == 0 {
		return objs, nil
	}
	known := make(map[imageKey][]string, len(images))
	for i, image := range images {
		key, ok, err := keyOf(image)
		if err != nil {
			return nil, &content.Error{
				Reason: content.ReasonContentInvalid, Err: fmt.Errorf("localizedImages[%d]: %q is no reference to an image: %w", i, image, err),
			}
		}
		if ok && !slices.Contains(known[key], image) {
			known[key] = append(known[key], image)
		}
	}
	return eachPodSpec(objs, func(_ inventory.ID, pods map[string]any) (bool, error) { return localise(pods, known) })
}

func localise(pods map[string]any, known map[imageKey][]string) (changed bool, err error) {
	replace := func(fields map[string]any, field, where string) error {
		text, _ := fields[field].(string)
		local, err := localImage(text, known)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if local != text {
			fields[field], changed = local, true
		}
		return nil
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range entries(pods, list) {
			where := fmt.Sprintf("container %v", container["name"])
			if err := replace(container, "image", where); err != nil {
				return false, err
			}
			for _, variable := range entries(container, "env") {
				if err := replace(variable, "value", fmt.Sprintf("%s, variable %v", where, variable["name"])); err != nil {
					return false, err
				}
			}
		}
	}
	return changed, nil
}

// localImage returns the reference that takes the place of text; text itself when it needs none. What text pins stays pinned: of a digest
// there is one content, whatever its tag says.
func localImage(text string, known map[imageKey][]string) (string, error) {
	key, ok, err := keyOf(text)
	if err != nil || !ok {
		return text, nil //nolint:nilerr // any text may stand in a variable; for an image the cluster will tell
	}
	candidates := withDigest(known[key], text)
	switch {
	case len(candidates) == 0 || slices.Contains(candidates, text):
		return text, nil
	case len(candidates) > 1:
		return "", fmt.Errorf("%s may stand for each of the localized images %s: publish the component with different names or tags, "+
			"or name one of them in the content", text, strings.Join(candidates, ", "))
	default:
		return candidates[0], nil
	}
}

// withDigest keeps of some references those that can stand for text: where text has a digest, those with the same, and those without one,
// which get it.
func withDigest(candidates []string, text string) []string {
	_, pinned, has := strings.Cut(text, "@")
	if !has {
		return candidates
	}
	var kept []string
	for _, candidate := range candidates {
		name, digest, _ := strings.Cut(candidate, "@")
		if full := name + "@" + pinned; (digest == "" || digest == pinned) && !slices.Contains(kept, full) {
			kept = append(kept, full)
		}
	}
	return kept
}
