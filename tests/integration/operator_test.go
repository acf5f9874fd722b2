package integration

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// tended is the finalizer of an operator.
const tended = "testkit.kyma-project.io/tended"

// operator does what the operator of a chart does for as long as its Deployment is there, since pods run no programs here. It answers the
// webhook for its custom resources, without which none can be written. It makes the definition of one more kind while it has custom
// resources, an object of that kind for each, and lets go of a custom resource when that object is deleted.
type operator struct {
	runtime *testkit.Cluster
	module  string
	made    *unstructured.Unstructured // the definition
	server  *httptest.Server
	asked   atomic.Int64
	held    atomic.Value // the name of a custom resource that it does not get done with, or ""
}

// startOperator starts the operator of a module, which waits for its Deployment.
func startOperator(runtime *testkit.Cluster, module string) *operator {
	GinkgoHelper()
	o := &operator{runtime: runtime, module: module, made: another(testkit.Operator(module, "1.0.0"), "Ink")}
	o.held.Store("")
	o.server = httptest.NewTLSServer(admitter(o.answer))
	DeferCleanup(o.server.Close)
	working, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait.UntilWithContext(working, o.work, 100*time.Millisecond)
	}()
	DeferCleanup(func() {
		stop()
		<-ended
	})
	return o
}

// webhook has the runtime ask the operator about every write of its custom resources, and refuse them where it does not answer.
func (o *operator) webhook() *unstructured.Unstructured {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.server.Certificate().Raw})
	plural, group := o.resource()
	return testkit.ParseYAML(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %s}
webhooks:
- name: keeper.example.com
  sideEffects: None
  failurePolicy: Fail
  admissionReviewVersions: [v1]
  clientConfig: {url: %q, caBundle: %s}
  rules: [{operations: ["*"], apiGroups: [%s], apiVersions: [v1], resources: [%s]}]`,
		o.module, o.server.URL, base64.StdEncoding.EncodeToString(ca), group, plural))
}

// resource returns that of its custom resources.
func (o *operator) resource() (plural, group string) {
	definition := definitionOf(testkit.Operator(o.module, "1.0.0"))
	plural, _, _ = unstructured.NestedString(definition.Object, "spec", "names", "plural")
	group, _, _ = unstructured.NestedString(definition.Object, "spec", "group")
	return plural, group
}

// answer allows everything, but only while the Deployment is there.
func (o *operator) answer(ctx context.Context) *admissionv1.AdmissionResponse {
	if !o.runs(ctx) {
		return nil
	}
	o.asked.Add(1)
	return &admissionv1.AdmissionResponse{Allowed: true}
}

func (o *operator) runs(ctx context.Context) bool {
	live := deployment(o.module)
	err := o.runtime.Client.Get(ctx, client.ObjectKeyFromObject(live), live)
	return err == nil && live.DeletionTimestamp == nil
}

// work is one pass over everything; what fails is tried again by the next one.
func (o *operator) work(ctx context.Context) {
	if !o.runs(ctx) {
		return
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(testkit.Operator(o.module, "1.0.0").DefaultCR.GroupVersionKind())
	if err := o.runtime.Client.List(ctx, all); err != nil {
		return // its definition is not there yet
	}
	if len(all.Items) == 0 {
		o.tell(o.runtime.Client.Delete(ctx, o.made.DeepCopy()))
		return
	}
	o.tell(o.runtime.Client.Create(ctx, o.made.DeepCopy()))
	for i := range all.Items {
		o.tell(o.tend(ctx, &all.Items[i]))
	}
}

// tend brings one custom resource to where it should be.
func (o *operator) tend(ctx context.Context, cr *unstructured.Unstructured) error {
	child := o.childOf(cr.GetName())
	if cr.GetDeletionTimestamp() == nil {
		child.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(cr, cr.GroupVersionKind())})
		if controllerutil.AddFinalizer(cr, tended) {
			return o.runtime.Client.Update(ctx, cr)
		}
		return o.runtime.Client.Create(ctx, child)
	}
	if o.held.Load() == cr.GetName() {
		return nil
	}
	if err := o.runtime.Client.Delete(ctx, child); client.IgnoreNotFound(err) != nil {
		return err
	}
	controllerutil.RemoveFinalizer(cr, tended)
	return o.runtime.Client.Update(ctx, cr)
}

// childOf returns what the operator makes for a custom resource.
func (o *operator) childOf(name string) *unstructured.Unstructured {
	return objectOf(o.made, name+"-child")
}

// tell writes down what is not the usual course of things.
func (o *operator) tell(err error) {
	if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !meta.IsNoMatchError(err) {
		fmt.Fprintf(GinkgoWriter, "operator of %s: %v\n", o.module, err)
	}
}
