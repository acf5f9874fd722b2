package render

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// ImageUse is a place where an object names an image that containers run or mount.
type ImageUse struct {
	// ID of the object.
	ID inventory.ID
	// Image as the object writes it.
	Image string
}

// containerLists are the fields of a pod's description that hold containers.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

// ImageUses returns all places where objects name an image, by the shape of a pod's description and not by kind: custom resources hold such
// descriptions too, and their operators run what stands there. It knows the lists of containers, and volumes with an image. An image that a
// program finds elsewhere, such as in an argument or an environment variable, is none of these.
func ImageUses(objects []*unstructured.Unstructured) []ImageUse {
	var found []ImageUse
	for _, object := range objects {
		id := inventory.IDOf(object)
		eachImage(object.Object, func(image string) { found = append(found, ImageUse{ID: id, Image: image}) })
	}
	return found
}

func eachImage(value any, found func(image string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, list := range containerLists {
			for _, container := range entries(value, list) {
				if image, has := container["image"].(string); has {
					found(image)
				}
			}
		}
		for _, volume := range entries(value, "volumes") {
			mounted, _ := volume["image"].(map[string]any)
			if image, has := mounted["reference"].(string); has {
				found(image)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) { // the first one that is refused is told: it must not change by itself
			eachImage(value[key], found)
		}
	case []any:
		for _, item := range value {
			eachImage(item, found)
		}
	}
}
