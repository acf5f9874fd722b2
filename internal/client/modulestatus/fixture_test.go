package modulestatus

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// remoteKyma returns the Kyma kcp-system/alice, which requests the module beacon.
func remoteKyma(change ...func(*v1beta2.Kyma)) v1beta2.Kyma {
	kyma := v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice", Generation: 1},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "beacon"}}},
		Status: v1beta2.KymaStatus{
			ObservedGeneration: 1, State: v1beta2.StateReady,
			Modules: []v1beta2.ModuleStatus{{Name: "beacon", Version: "1.0.0", Channel: "regular", State: v1beta2.StateReady}},
		},
	}
	for _, f := range change {
		f(&kyma)
	}
	return kyma
}

// local places the modules of a Kyma in its own cluster.
func local(kyma *v1beta2.Kyma) {
	no := false
	kyma.Spec.Remote = &no
}

// stands sets the status of beacon.
func stands(state v1beta2.State, version, message string) func(*v1beta2.Kyma) {
	return func(kyma *v1beta2.Kyma) {
		kyma.Status.Modules[0].State, kyma.Status.Modules[0].Version, kyma.Status.Modules[0].Message = state, version, message
	}
}

// manifest returns the Manifest of alice's beacon in version 1.0.0, ready.
func manifest(change ...func(*v1beta2.Manifest)) v1beta2.Manifest {
	m := v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kcp-system", Name: "alice-beacon", Generation: 1,
			Labels: map[string]string{
				v1beta2.LabelKymaName: "alice", v1beta2.LabelModuleName: "beacon", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			},
		},
		Spec:   v1beta2.ManifestSpec{Version: "1.0.0", Resource: custom("Beacon", "default", ""), Manager: manager()},
		Status: v1beta2.ManifestStatus{ObservedGeneration: 1, State: v1beta2.StateReady},
	}
	for _, f := range change {
		f(&m)
	}
	return m
}

func release(name string, channels ...string) v1beta2.ModuleReleaseMeta {
	r := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}}
	r.Spec.ModuleName, r.Spec.OCMComponentName = name, "kyma-project.io/module/"+name
	for i := 0; i < len(channels); i += 2 {
		r.Spec.Channels = append(r.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	return r
}

func template(name, version string, change ...func(*v1beta2.ModuleTemplate)) v1beta2.ModuleTemplate {
	t := v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name + "-" + version}}
	t.Spec = v1beta2.ModuleTemplateSpec{ModuleName: name, Version: version, Data: custom("Beacon", "default", ""), Manager: manager()}
	for _, f := range change {
		f(&t)
	}
	return t
}

// custom returns a custom resource in kyma-system with a status.state.
func custom(kind, name, state string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "sample.kyma-project.io/v1", "kind": kind,
		"metadata": map[string]any{"namespace": "kyma-system", "name": name},
	}}
	if state != "" {
		o.Object["status"] = map[string]any{"state": state}
	}
	return o
}

func manager() *v1beta2.Manager {
	return &v1beta2.Manager{
		GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		Namespace:        "kyma-system", Name: "beacon-manager",
	}
}

// deployment returns the beacon's operator with an image, available.
func deployment(image string, change ...func(map[string]any)) *unstructured.Unstructured {
	o := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": "kyma-system", "name": "beacon-manager", "generation": int64(1)},
		"spec": map[string]any{
			"replicas": int64(1),
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "manager", "image": image}}}},
		},
		"status": map[string]any{
			"observedGeneration": int64(1), "replicas": int64(1), "updatedReplicas": int64(1), "readyReplicas": int64(1),
			"availableReplicas": int64(1),
			"conditions":        []any{map[string]any{"type": "Available", "status": "True"}},
		},
	}
	for _, f := range change {
		f(o)
	}
	return &unstructured.Unstructured{Object: o}
}

var (
	beacons     = schema.GroupKind{Group: "sample.kyma-project.io", Kind: "Beacon"}
	deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}
)

// seen returns inputs with Kymas and all other objects of a cluster.
func seen(kymas []v1beta2.Kyma, objects ...*unstructured.Unstructured) Inputs {
	return Inputs{
		Kymas: kymas, Objects: objects, Looked: []ListedKind{{GroupKind: beacons}, {GroupKind: deployments, Namespace: "kyma-system"}},
		Releases:  []v1beta2.ModuleReleaseMeta{release("beacon", "regular", "1.0.0", "fast", "1.1.0")},
		Templates: []v1beta2.ModuleTemplate{template("beacon", "1.0.0"), template("beacon", "1.1.0")},
	}
}
