package getcmd

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// administrator returns the connection to the API server of this package.
func administrator(t testing.TB) *rest.Config {
	t.Helper()
	apiserver.Need(t)
	config, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// kyma runs a command line with the commands of this package in this process.
func kyma(t testing.TB, config *rest.Config, args ...string) (code int, out, said string, requests int) {
	t.Helper()
	var outBuffer, errBuffer bytes.Buffer
	c := &console.Console{In: strings.NewReader(""), Out: &outBuffer, Err: &errBuffer}
	to := target.Of(config)
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	root.SetOut(&outBuffer)
	to.AddFlags(root.PersistentFlags())
	root.AddCommand(Commands(c, to)...)
	root.SetArgs(args)
	code = c.Fail(root.ExecuteContext(t.Context()))
	return code, outBuffer.String(), errBuffer.String(), to.Requests()
}

var furnish sync.Once

// startHub returns an API server with a hub on it that is also its own runtime: see the objects below.
func startHub(t *testing.T) *rest.Config {
	t.Helper()
	config := administrator(t)
	furnish.Do(func() {
		if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{MaxTime: time.Minute, CRDs: []*apiextensionsv1.CustomResourceDefinition{beaconKind()}}); err != nil {
			t.Fatal(err)
		}
		c, err := target.Of(config).Client()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects(t) {
			status := o.DeepCopyObject().(client.Object)
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatalf("create %T %s: %v", o, o.GetName(), err)
			}
			status.SetResourceVersion(o.GetResourceVersion())
			status.SetUID(o.GetUID())
			switch s := status.(type) {
			case *v1beta2.Kyma:
				s.Status.ObservedGeneration = o.GetGeneration()
			case *v1beta2.Manifest:
				s.Status.ObservedGeneration = o.GetGeneration()
			case *appsv1.Deployment:
			default:
				continue
			}
			if err := c.Status().Update(t.Context(), status); err != nil {
				t.Fatalf("status of %T %s: %v", o, o.GetName(), err)
			}
		}
	})
	return config
}

func beaconKind() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "beacons.sample.kyma-project.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "sample.kyma-project.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "beacons", Singular: "beacon", Kind: "Beacon", ListKind: "BeaconList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep},
				},
			}},
		},
	}
}

// objects returns the Kyma kcp-system/alice of a runtime, with a beacon that is ready and outdated and a greeter in another version than
// requested; the local Kyma kcp-system/here, one of whose two beacons is broken; and the community module lone, installed directly.
func objects(t *testing.T) []client.Object {
	t.Helper()
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kcp-system"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kyma-system"}},
		releaseOf("beacon", "regular", "1.0.0", "fast", "1.1.0"), releaseOf("greeter", "regular", "0.1.0"),
		templateOf("kcp-system", "beacon", "1.0.0"), templateOf("kcp-system", "beacon", "1.1.0"), templateOf("kcp-system", "greeter", "0.1.0"),
		templateOf("default", "lone", "0.1.0"), templateOf("default", "lone", "0.2.0"),
		alice(), here(), withHistory(manifestOf("alice", "beacon", "1.0.0")), manifestOf("here", "beacon", "1.1.0"),
		beaconOf("default", "Ready"), beaconOf("other", "Error"), managerOf("beacon", "1.1.0"), managerOf("lone", "0.1.0"),
		recordOf(t),
		&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice.1"},
			InvolvedObject: corev1.ObjectReference{Kind: "Manifest", Namespace: "kcp-system", Name: "alice-beacon"},
			Type:           "Warning", Reason: "FieldsPutBack", Message: "a user changed\nsomething", Count: 2,
			LastTimestamp: metav1.Unix(1, 0),
		},
		&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice.2"},
			InvolvedObject: corev1.ObjectReference{Kind: "Kyma", Namespace: "kcp-system", Name: "alice"},
			Type:           "Normal", Reason: "Ready", Message: "all is well", Count: 1, LastTimestamp: metav1.Unix(2, 0),
		},
		&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice.3"},
			InvolvedObject: corev1.ObjectReference{Kind: "Kyma", Namespace: "kcp-system", Name: "alice"},
			Type:           "Warning", Reason: "SignatureUntrusted",
			Message: "State is now Error: 1 of 2 modules ready; greeter: SignatureUntrusted: by a stranger", Count: 1, LastTimestamp: metav1.Unix(3, 0),
		},
	}
}

func releaseOf(name string, channels ...string) *v1beta2.ModuleReleaseMeta {
	r := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}}
	r.Spec.ModuleName, r.Spec.OCMComponentName = name, "kyma-project.io/module/"+name
	for i := 0; i < len(channels); i += 2 {
		r.Spec.Channels = append(r.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	return r
}

func managerRef(name string) *v1beta2.Manager {
	return &v1beta2.Manager{
		GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		Namespace:        "kyma-system", Name: name + "-manager",
	}
}

func templateOf(namespace, name, version string) *v1beta2.ModuleTemplate {
	return &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-" + version},
		Spec: v1beta2.ModuleTemplateSpec{
			ModuleName: name, Version: version, Data: beaconOf("default", ""), Manager: managerRef(name),
			Info:                &v1beta2.ModuleInfo{Repository: "https://example.com/" + name, Documentation: "https://example.com/" + name + "/docs"},
			AssociatedResources: []metav1.GroupVersionKind{{Group: "sample.kyma-project.io", Version: "v1", Kind: "Beacon"}},
			Resources:           []v1beta2.Named{{Name: "rawManifest", Link: "https://example.com/" + name + ".yaml"}},
			Requires:            requiresOf(name, version),
		},
	}
}

func requiresOf(name, version string) []v1beta2.Requirement {
	if name != "beacon" || version != "1.1.0" {
		return nil
	}
	return []v1beta2.Requirement{{Module: "greeter", Version: ">=0.1 <1"}, {Kubernetes: ">=1.31"}}
}

func alice() *v1beta2.Kyma {
	k := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice"}}
	k.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "beacon"}, {Name: "greeter"}}}
	k.Status = v1beta2.KymaStatus{
		State: v1beta2.StateWarning, ModulesReady: "1/2",
		Conditions: []metav1.Condition{{
			Type: v1beta2.ConditionReady, Status: "False", Reason: v1beta2.ReasonDowngrade, Message: "1 of 2 modules ready", LastTransitionTime: metav1.Unix(0, 0),
		}},
		Modules: []v1beta2.ModuleStatus{
			{Name: "beacon", Version: "1.0.0", Channel: "regular", State: v1beta2.StateReady, ResourceState: v1beta2.StateReady},
			{
				Name: "greeter", Version: "0.2.0", Channel: "regular", State: v1beta2.StateWarning,
				Message: "module template update not allowed: ignore channel skew (from fast to regular), " +
					"as a higher version (0.2.0) of the module was previously installed",
			},
		},
	}
	return k
}

func here() *v1beta2.Kyma {
	no := false
	k := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "here"}}
	k.Spec = v1beta2.KymaSpec{Channel: "regular", Remote: &no, Modules: []v1beta2.Module{{Name: "beacon", Channel: "fast"}}}
	k.Status = v1beta2.KymaStatus{
		State:   v1beta2.StateReady,
		Modules: []v1beta2.ModuleStatus{{Name: "beacon", Version: "1.1.0", Channel: "fast", State: v1beta2.StateReady}},
	}
	return k
}

func manifestOf(kyma, module, version string) *v1beta2.Manifest {
	m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kcp-system", Name: kyma + "-" + module,
		Labels: map[string]string{
			v1beta2.LabelKymaName: kyma, v1beta2.LabelModuleName: module, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		},
		Annotations: map[string]string{v1beta2.AnnotationOCMComponentName: "kyma-project.io/module/" + module},
	}}
	m.Spec.Version, m.Spec.Install.Source.Raw, m.Spec.Install.Name = version, []byte(`{}`), "raw-manifest"
	m.Spec.Resource, m.Spec.Manager = beaconOf("default", ""), managerRef(module)
	m.Status.State = v1beta2.StateReady
	at := func(group, kind, name string) v1beta2.Resource {
		return v1beta2.Resource{Group: group, Version: "v1", Kind: kind, Namespace: "kyma-system", Name: name, Hash: "x"}
	}
	m.Status.Synced = []v1beta2.Resource{
		at("apps", "Deployment", module+"-manager"), at("", "ConfigMap", "a"), at("", "ConfigMap", "b"), at("", "ConfigMap", "c"),
		at("", "Service", module),
	}
	return m
}

// withHistory returns a Manifest that went back by itself from 1.1.0, and then had content that does not become ready.
func withHistory(m *v1beta2.Manifest) *v1beta2.Manifest {
	revision := func(number int64, version, content string, outcome v1beta2.RevisionOutcome, reason string) v1beta2.Revision {
		return v1beta2.Revision{
			Number: number, Version: version, Digest: "sha256:" + strings.Repeat(content, 64), Template: "0123456789abcdef",
			At: metav1.Now(), Before: v1beta2.StateReady, Outcome: outcome, Reason: reason,
		}
	}
	m.Status.Revisions = []v1beta2.Revision{
		revision(7, "1.1.0", "a", v1beta2.RevisionRolledBack, v1beta2.ReasonProgressDeadlineExceeded),
		revision(8, "1.0.0", "b", v1beta2.RevisionSucceeded, ""), revision(9, "1.0.0", "c", "", ""),
	}
	return m
}

func beaconOf(name, state string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "sample.kyma-project.io/v1", "kind": "Beacon", "metadata": map[string]any{"namespace": "kyma-system", "name": name},
	}}
	if state != "" {
		o.Object["status"] = map[string]any{"state": state, "description": "its lamp says \x1b[31m" + state}
	}
	return o
}

func managerOf(name, version string) *appsv1.Deployment {
	one := int32(1)
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kyma-system", Name: name + "-manager"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "registry.example.com:5000/" + name + ":" + version}}},
			},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		},
	}
}

func recordOf(t *testing.T) *corev1.Secret {
	t.Helper()
	note := modulestatus.DirectNote{
		Version: "0.1.0", Complete: true, Type: modulestatus.Community, Template: modulestatus.Key{Namespace: "default", Name: "lone-0.1.0"},
		Manager: managerRef("lone"), Signed: modulestatus.Signed{State: modulestatus.SignatureVerified, By: "example.com"},
	}
	annotations, err := note.Annotations()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := json.Marshal([]inventory.Entry{{
		ID: inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "kyma-system", Name: "lone-manager"}, Version: "v1", Hash: "x",
	}})
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	packer := gzip.NewWriter(&data)
	if _, err := packer.Write(entries); err != nil {
		t.Fatal(err)
	}
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: modulestatus.DirectNamespace, Name: "manifest.direct-lone", Labels: note.Labels("lone"), Annotations: annotations,
		},
		Data: map[string][]byte{"record.json": []byte(`{"format":1}`), "entries.json.gz": data.Bytes()},
	}
}
