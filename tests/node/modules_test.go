package node

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	greeter, beacon = "greeter", "beacon"
	older, newer    = "1.0.0", "1.1.0"
	// broken has an image that does not exist, crashing a flag that its program does not know, homeless a node that does not exist, mended
	// none of these.
	broken, crashing, homeless, mended = "1.2.0", "1.2.1", "1.2.2", "1.3.0"
)

// edit changes the text of a sample; what it looks for must be there.
type edit struct{ old, new string }

// rolling lets the old pod serve until the new one has been ready for some seconds: a state that is early shows.
var rolling = edit{"  strategy:\n    type: Recreate\n", "  minReadySeconds: 4\n  progressDeadlineSeconds: 20\n  strategy:\n    type: RollingUpdate\n"}

func runs(from, to string) edit {
	return edit{"image: samples.kyma-project.io/greeter:" + from, "image: samples.kyma-project.io/greeter:" + to}
}

// fails lets the program of the greeter end at once, with exit code 2.
var fails = edit{
	"        image: samples.kyma-project.io/greeter:" + newer + "\n",
	"        image: samples.kyma-project.io/greeter:" + newer + "\n        args: [--no-such-flag]\n",
}

// nowhere lets the pod of the greeter ask for a node with a label that no node has.
var nowhere = edit{"      containers:\n", "      nodeSelector:\n        disk: quantum\n      containers:\n"}

// offer publishes a version of a sample module, made of the sample of the given version, and points the channel at it.
func offer(module, version, sample string, edits ...edit) {
	GinkgoHelper()
	folder := filepath.Join(root, "samples", "modules", module, sample)
	content, err := os.ReadFile(filepath.Join(folder, "manifest.yaml"))
	Expect(err).NotTo(HaveOccurred())
	text := string(content)
	for _, e := range edits {
		Expect(text).To(ContainSubstring(e.old), "the sample %s %s has changed", module, sample)
		text = strings.Replace(text, e.old, e.new, 1)
	}
	_, err = component.Push(background(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
		Name: testkit.ComponentName(module), Version: version, Provider: "kyma-project.io",
		Resources: []component.Resource{testkit.RawManifest([]byte(text))},
	})
	Expect(err).NotTo(HaveOccurred())
	defaultCR := &unstructured.Unstructured{}
	content, err = os.ReadFile(filepath.Join(folder, "default-cr.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.Unmarshal(content, &defaultCR.Object)).To(Succeed())
	template := testkit.ModuleTemplate(module, version, func(spec *v1beta2.ModuleTemplateSpec) {
		spec.Data, spec.Readiness = defaultCR, v1beta2.ReadinessBoth
		spec.Manager = &v1beta2.Manager{
			GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			Namespace:        module + "-system", Name: module,
		}
	})
	Expect(hub.client.Create(background(), template)).To(Succeed())
	release := testkit.ModuleReleaseMeta(module, v1beta2.DefaultChannel+"="+version)
	err = hub.client.Create(background(), release.DeepCopy())
	if apierrors.IsAlreadyExists(err) {
		known := &v1beta2.ModuleReleaseMeta{}
		Expect(hub.client.Get(background(), client.ObjectKeyFromObject(release), known)).To(Succeed())
		known.Spec.Channels = release.Spec.Channels
		err = hub.client.Update(background(), known)
	}
	Expect(err).NotTo(HaveOccurred())
}
