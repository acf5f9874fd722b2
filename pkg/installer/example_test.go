package installer_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// config returns what a program has from its kubeconfig or its Pod; here it is the API server of the tests.
func config() *rest.Config { return installer.ServerOfExamples() }

// A chart is installed, upgraded with other values, and taken down.
func Example() {
	ctx := context.Background()
	chart := installer.Source{
		Name: "demo", Content: installer.Directory("testdata/chart"), Renderer: helm.Renderer{}, Values: map[string]any{"colour": "red"},
	}
	inst := installer.Installation{
		Name: "demo", Namespace: "example-chart", CreateNamespace: true,
		Config: config(), Sources: []installer.Source{chart}, Wait: time.Minute,
	}
	report, err := installer.Install(ctx, inst)
	fmt.Println(report.State, err)

	inst.Sources[0].Values["colour"] = "green"
	report, err = installer.Install(ctx, inst)
	fmt.Println(report.Objects[0].ID, report.Objects[0].Action, err)

	report, err = installer.Uninstall(ctx, inst)
	fmt.Println(report.State, err)
	// Output:
	// Ready <nil>
	// ConfigMap example-chart/demo Updated <nil>
	// Gone <nil>
}

// Everything that a module has: a definition first, content, one custom resource last, and a check of one's own.
func ExampleInstall() {
	ctx := context.Background()
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "lamps.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Lamp", "plural": "lamps"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	lamp := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": map[string]any{"name": "default"},
	}}
	inst := installer.Installation{
		Name: "lamps", Namespace: "example-install", CreateNamespace: true, Config: config(), Wait: time.Minute,
		CRDs:            []*unstructured.Unstructured{definition},
		Sources:         []installer.Source{installer.YAML("content", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")},
		CustomResources: []*unstructured.Unstructured{lamp},
		Transforms: []func(*unstructured.Unstructured) error{func(object *unstructured.Unstructured) error {
			object.SetLabels(map[string]string{"example.com/team": "light"})
			return nil
		}},
		Check: func(ctx context.Context, cluster installer.Cluster) (bool, string, error) {
			settings := &corev1.ConfigMap{}
			err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: "example-install", Name: "settings"}, settings)
			return settings.Labels["example.com/team"] == "light", "the settings have no team", err
		},
	}
	report, err := installer.Install(ctx, inst)
	fmt.Println(report.Ready, err)
	for _, object := range report.Objects {
		fmt.Println(object.ID, object.Action, object.Health)
	}
	report, err = installer.Uninstall(ctx, inst)
	fmt.Println(report.State, err)
	// Output:
	// true <nil>
	// CustomResourceDefinition.apiextensions.k8s.io lamps.example.com Created Ready
	// ConfigMap example-install/settings Created Ready
	// Lamp.example.com example-install/default Created Ready
	// Gone <nil>
}

// Check finds what a user has changed, and writes nothing.
func ExampleCheck() {
	ctx := context.Background()
	inst := installer.Installation{
		Name: "demo", Namespace: "example-check", CreateNamespace: true, Config: config(),
		Sources: []installer.Source{installer.YAML("content", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")},
	}
	report, err := installer.Check(ctx, inst)
	fmt.Println(report.Ready, report.Reason, err)
	_, err = installer.Install(ctx, inst)
	fmt.Println(err)
	report, err = installer.Check(ctx, inst)
	fmt.Println(report.Ready, report.Message, err)
	// Output:
	// false NotInstalled <nil>
	// <nil>
	// true 1 object installed and ready <nil>
}

// Diff shows what an Install would change.
func ExampleDiff() {
	ctx := context.Background()
	inst := installer.Installation{
		Name: "demo", Namespace: "example-diff", CreateNamespace: true, Config: config(),
		Sources: []installer.Source{installer.YAML("content", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1'}}")},
	}
	_, err := installer.Install(ctx, inst)
	fmt.Println(err)
	inst.Sources[0] = installer.YAML("content", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '2'}}")
	differences, err := installer.Diff(ctx, inst)
	for _, difference := range differences {
		fmt.Println(difference.ID, difference.Change, difference.Fields, err)
	}
	// Output:
	// <nil>
	// ConfigMap example-diff/settings Update [{data.a 1 2}] <nil>
}

// Uninstall needs to know where the record is, and nothing else.
func ExampleUninstall() {
	report, err := installer.Uninstall(context.Background(), installer.Installation{Name: "demo", Namespace: "default", Config: config()})
	fmt.Println(report.State, err)
	// Output: Gone <nil>
}
