// Package clusterfacts answers one question: what has a cluster of what a version of a module requires of it, as its user may see?
//
// It reads the definitions that a list of requirements names, by name, and the version of the cluster, if the list has a range of it.
//
// Non-goals: it judges nothing (pkg/requirements does), looks at no module, and takes nothing that it could not read for absent.
package clusterfacts

import (
	"context"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Read fills in the facts about a cluster that some requirements are about. What cannot be read stays unknown, and Problem says why.
func Read(ctx context.Context, config *rest.Config, list []requirements.Requirement, into *requirements.Facts) {
	client, err := apiextensions.NewForConfig(config)
	if err != nil {
		into.Problem = err.Error()
		return
	}
	for _, one := range list {
		switch {
		case one.Kubernetes != "" && into.Kubernetes == "":
			err = readVersion(ctx, client.RESTClient(), into)
		case one.Definition != "":
			err = readDefinition(ctx, client, one.Definition, into)
		default:
			continue
		}
		if err != nil {
			into.Problem = err.Error()
		}
	}
}

func readVersion(ctx context.Context, client rest.Interface, into *requirements.Facts) error {
	text, err := client.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return fmt.Errorf("the version of the cluster cannot be read: %w", err)
	}
	info := version.Info{}
	if err := json.Unmarshal(text, &info); err != nil {
		return fmt.Errorf("the version of the cluster cannot be read: %w", err)
	}
	into.Kubernetes = info.GitVersion
	return nil
}

func readDefinition(ctx context.Context, client apiextensions.ApiextensionsV1Interface, name string, into *requirements.Facts) error {
	found, err := client.CustomResourceDefinitions().Get(ctx, name, metav1.GetOptions{})
	seen := requirements.Definition{}
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("definition %s cannot be read: %w", name, err)
	default:
		seen = Of(found)
	}
	if into.Definitions == nil {
		into.Definitions = map[string]requirements.Definition{}
	}
	into.Definitions[name] = seen
	return nil
}

// Of returns what a cluster has with a definition: the versions that it serves, none before it is established.
func Of(definition *apiextensionsv1.CustomResourceDefinition) requirements.Definition {
	established := false
	for _, condition := range definition.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			established = condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	found := requirements.Definition{Present: true}
	for i := range definition.Spec.Versions {
		if one := &definition.Spec.Versions[i]; established && one.Served {
			found.Served = append(found.Served, one.Name)
		}
	}
	return found
}
