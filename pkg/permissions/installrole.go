package permissions

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// InstallRole returns the roles that an installer needs to apply and to delete the objects: a ClusterRole for what lives in no namespace, and a
// Role for each namespace, all with the name.
func InstallRole(objects []*unstructured.Unstructured, name string) ([]*unstructured.Unstructured, error) {
	return nil, errors.New("not implemented yet")
}
