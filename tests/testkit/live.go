package testkit

import (
	"fmt"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// insistent is for an object that a manager writes at the same time.
var insistent = wait.Backoff{Steps: 20, Duration: 10 * time.Millisecond, Factor: 1.3, Jitter: 0.2}

// Edit changes the current object, retries on conflict, and leaves the result in object.
func Edit[T client.Object](c *Cluster, object T, change func(T)) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	err := retry.RetryOnConflict(insistent, func() error {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return c.Client.Update(ctx, object)
	})
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), describe(object))
}

// Live is for Eventually: it returns the current object.
func Live[T client.Object](c *Cluster, object T) func() (T, error) {
	return func() (T, error) {
		ctx, cancel := background()
		defer cancel()
		live, ok := object.DeepCopyObject().(T)
		if !ok {
			return live, fmt.Errorf("a copy of %T is of another type", object)
		}
		return live, c.Client.Get(ctx, client.ObjectKeyFromObject(object), live)
	}
}

// Gone is for Eventually: it reports whether the object no longer exists.
func Gone(c *Cluster, object client.Object) func() (bool, error) {
	return func() (bool, error) {
		_, err := Live(c, object)()
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

// ManifestOf is for Eventually: it returns the Manifest of a Kyma's module. It fails while there is none or more than one.
func (e *Env) ManifestOf(kyma, module string) func() (*v1beta2.Manifest, error) {
	return func() (*v1beta2.Manifest, error) {
		ctx, cancel := background()
		defer cancel()
		var found v1beta2.ManifestList
		labels := client.MatchingLabels{v1beta2.LabelKymaName: kyma, v1beta2.LabelModuleName: module}
		if err := e.Hub.Client.List(ctx, &found, client.InNamespace(v1beta2.DefaultNamespace), labels); err != nil {
			return nil, err
		}
		if len(found.Items) != 1 {
			return nil, fmt.Errorf("Kyma %s has %d Manifests for module %s", kyma, len(found.Items), module)
		}
		return &found.Items[0], nil
	}
}
