package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// PullSecretVariable is the environment variable by which an operator learns with which Secret the pods that it makes itself can pull
// their images.
const PullSecretVariable = "SKR_IMG_PULL_SECRET" //nolint:gosec // the name of a variable that holds the name of a Secret

// PullSecret makes everything that runs pods pull images with a Secret, beside those that it names itself, and tells the name to the
// operator. Changed objects are copies.
//
// The operator is the object manager; without one, every Deployment and StatefulSet. All its containers get PullSecretVariable. One that
// has that variable with another value is an error, because one of the two would be wrong.
func PullSecret(objs []*unstructured.Unstructured, secret string, manager *inventory.ID) ([]*unstructured.Unstructured, error) {
	if secret == "" {
		return objs, nil
	}
	return eachPodSpec(objs, func(id inventory.ID, pods map[string]any) (bool, error) {
		changed := addPullSecret(pods, secret)
		if !isOperator(id, manager) {
			return changed, nil
		}
		for _, container := range entries(pods, "containers") {
			added, err := addVariable(container, secret)
			if err != nil {
				return false, fmt.Errorf("container %v: %w", container["name"], err)
			}
			changed = changed || added
		}
		return changed, nil
	})
}

func isOperator(id inventory.ID, manager *inventory.ID) bool {
	if manager != nil {
		return id == *manager
	}
	kind := id.GroupKind()
	return kind == schema.GroupKind{Group: "apps", Kind: "Deployment"} || kind == schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
}

func addPullSecret(pods map[string]any, secret string) (added bool) {
	for _, entry := range entries(pods, "imagePullSecrets") {
		if entry["name"] == secret {
			return false
		}
	}
	return add(pods, "imagePullSecrets", map[string]any{"name": secret})
}

func addVariable(container map[string]any, secret string) (added bool, err error) {
	for _, variable := range entries(container, "env") {
		if variable["name"] != PullSecretVariable {
			continue
		}
		if variable["value"] == secret {
			return false, nil
		}
		return false, fmt.Errorf("it sets the environment variable %s itself, which is to be %q: remove it from the content",
			PullSecretVariable, secret)
	}
	return add(container, "env", map[string]any{"name": PullSecretVariable, "value": secret}), nil
}

// add appends to a list, unless there is something in its place that is none.
func add(fields map[string]any, list string, entry map[string]any) bool {
	items, isList := fields[list].([]any)
	if !isList && fields[list] != nil {
		return false
	}
	fields[list] = append(items, entry)
	return true
}
