package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// TestOperator installs the module as it is published, and runs the operator with the permissions that the module grants it.
func TestOperator(t *testing.T) {
	admin, config := cluster(t)
	install(t, admin, "1.0.0")
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:beacon-system:beacon", Groups: []string{"system:serviceaccounts", "system:authenticated"},
	}
	run := start(t, config, "1.0.0")
	beacon := &Beacon{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "north"}, Spec: BeaconSpec{Colour: "red", Lamps: 2}}
	eventually(t, func() string { // its kind was defined only a moment ago
		if err := admin.Create(t.Context(), beacon); err != nil {
			return err.Error()
		}
		return ""
	})
	becomes(t, admin, beacon, "Processing")
	shine(t, admin, 2)
	becomes(t, admin, beacon, "Ready")
	says(t, admin, "steady red", "beacon 1.0.0")

	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "beacon-north"}}
	must(t, admin.Delete(t.Context(), settings))
	says(t, admin, "steady red", "beacon 1.0.0")
	deployment := &appsv1.Deployment{}
	must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(settings), deployment))
	deployment.Spec.Replicas = new(int32(5))
	must(t, admin.Update(t.Context(), deployment))
	eventually(t, func() string {
		must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(settings), deployment))
		return want(*deployment.Spec.Replicas == 2, "the number of lamps is put back")
	})

	run()
	install(t, admin, "1.1.0")
	run = start(t, config, "1.1.0")
	defer run()
	must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(beacon), beacon))
	before := beacon.DeepCopyObject().(*Beacon) // its operator writes the status meanwhile
	beacon.Spec.Flashing = true
	must(t, admin.Patch(t.Context(), beacon, client.MergeFrom(before)))
	says(t, admin, "flashing red", "beacon 1.1.0")
	must(t, admin.Delete(t.Context(), beacon))
	eventually(t, func() string {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(beacon), beacon)
		return want(err != nil && client.IgnoreNotFound(err) == nil, "the Beacon goes")
	})
	err := admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment)
	if err == nil || client.IgnoreNotFound(err) != nil {
		t.Error("the Beacon has gone, and its Deployment has not:", err)
	}
}

func cluster(t *testing.T) (client.Client, *rest.Config) {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the sample may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	server := &envtest.Environment{BinaryAssetsDirectory: assets}
	config, err := server.Start()
	t.Cleanup(func() { must(t, server.Stop()) })
	must(t, err)
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	addKinds(scheme)
	admin, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	return admin, rest.CopyConfig(config)
}

// install applies the objects of a version of the module, which takes a moment after its definition.
func install(t *testing.T, admin client.Client, version string) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "modules", "beacon", version, "manifest.yaml"))
	must(t, err)
	defer file.Close()
	for documents := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		must(t, admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership))
	}
}

// start runs the operator until stop is called.
func start(t *testing.T, config *rest.Config, version string) (stop func()) {
	t.Helper()
	scheme := runtime.NewScheme()
	addKinds(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	must(t, err)
	reconciler := operator(version)
	reconciler.Builder = func(b *ctrl.Builder) { // the two versions are one process here
		b.WithOptions(controller.Options{SkipNameValidation: new(true)})
	}
	must(t, reconciler.SetupWithManager(manager))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	return func() {
		cancel()
		must(t, <-ended)
	}
}

// shine plays the controller of Deployments.
func shine(t *testing.T, admin client.Client, lamps int32) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	must(t, admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "beacon-north"}, deployment))
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: lamps, UpdatedReplicas: lamps, ReadyReplicas: lamps, AvailableReplicas: lamps,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	must(t, admin.Status().Update(t.Context(), deployment))
}

func becomes(t *testing.T, admin client.Client, beacon *Beacon, state string) {
	t.Helper()
	eventually(t, func() string {
		must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(beacon), beacon))
		status := beacon.Status
		if string(status.State) == state {
			return ""
		}
		return "the Beacon is not " + state + ": " + string(status.State) + " " + strings.Join(messages(status.Conditions), ", ")
	})
}

func messages(conditions []metav1.Condition) []string {
	var all []string
	for i := range conditions {
		all = append(all, conditions[i].Reason+": "+conditions[i].Message)
	}
	return all
}

func says(t *testing.T, admin client.Client, light, by string) {
	t.Helper()
	eventually(t, func() string {
		settings := &corev1.ConfigMap{}
		err := admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "beacon-north"}, settings)
		must(t, client.IgnoreNotFound(err))
		return want(settings.Data["light"] == light && settings.Data["by"] == by, "the light is "+light+", by "+by)
	})
}

func want(so bool, what string) string {
	if so {
		return ""
	}
	return "it is not so that " + what
}

func eventually(t *testing.T, said func() string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(30 * time.Second); ; {
		last := said()
		if last == "" {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatal(last)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
