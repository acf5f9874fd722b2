package matrix

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// eventually repeats an action in the background until it succeeds once; if it does not succeed before the fault is over, it is not done.
// Errors that mean that it is too early are ignored.
func eventually(try func(context.Context, *operation.Scenario) error) beginner {
	return repeatedly(func(ctx context.Context, s *operation.Scenario) {
		for ctx.Err() == nil && try(ctx, s) != nil {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// accessAs replaces the kubeconfig of the Scenario as soon as there is one, and restores the right one.
func accessAs(kubeconfig func(*operation.Scenario) ([]byte, error)) beginner {
	return together(func(context.Context, *operation.Scenario) (mender, error) { return nothing, nil },
		func(ctx context.Context, s *operation.Scenario) (mender, error) {
			stop, err := eventually(func(ctx context.Context, s *operation.Scenario) error {
				data, err := kubeconfig(s)
				if err != nil {
					return err
				}
				if err := s.Rig.Hub.Client.Get(ctx, keyOf(s), &corev1.Secret{}); err != nil {
					return err
				}
				return s.SetAccess(ctx, data)
			})(ctx, s)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) error {
				err := stop(ctx)
				data, accessErr := s.Access()
				return errors.Join(err, accessErr, s.SetAccess(ctx, data))
			}, nil
		})
}

func nothing(context.Context) error { return nil }

func keyOf(s *operation.Scenario) client.ObjectKey {
	return client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: s.Kyma().Name}
}

// accessTo returns access to another host; "" makes the kubeconfig invalid.
func accessTo(host string) beginner {
	return accessAs(func(s *operation.Scenario) ([]byte, error) {
		if host == "" {
			return []byte("this: is no kubeconfig"), nil
		}
		config := s.Home.Proxy.ConfigOf(s.Token)
		config.Host = host
		return localcluster.KubeconfigOf("runtime", config)
	})
}

func otherCluster(ctx context.Context, s *operation.Scenario) (mender, error) {
	return accessAs(func(s *operation.Scenario) ([]byte, error) { return s.Other.Proxy.Kubeconfig() })(ctx, s)
}

func withoutAccess(ctx context.Context, s *operation.Scenario) (mender, error) {
	secret := testkit.NewAccessSecret(s.Kyma().Name, nil)
	if err := s.Rig.Hub.Client.Delete(ctx, secret); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		data, err := s.Access()
		return errors.Join(err, s.SetAccess(ctx, data))
	}, nil
}

// rotated changes the token before the Secret: the Secret follows half a second later.
func rotated(_ context.Context, s *operation.Scenario) (mender, error) {
	old := s.Token
	token, err := s.Home.Proxy.Grant(s.Home.Config)
	if err != nil {
		return nil, err
	}
	s.Home.Proxy.Revoke(old)
	s.Token = token
	return func(ctx context.Context) error {
		data, err := s.Access()
		return errors.Join(err, s.SetAccess(ctx, data))
	}, nil
}

// certificate gives the runtime another authority, with a certificate of that validity; the fix is one that the Secret contains.
func certificate(good time.Duration) beginner {
	return func(_ context.Context, s *operation.Scenario) (mender, error) {
		if err := s.Home.Proxy.Renew(good); err != nil {
			return nil, err
		}
		s.Home.Proxy.Cut()
		return func(ctx context.Context) error {
			err := s.Home.Proxy.Renew(24 * time.Hour)
			s.Home.Proxy.Cut()
			data, accessErr := s.Access()
			return errors.Join(err, accessErr, s.SetAccess(ctx, data))
		}, nil
	}
}

func definitionOf(s *operation.Scenario) *apiextensionsv1.CustomResourceDefinition {
	name := strings.ToLower(testkit.KindOf(s.Web)) + "s.testkit.kyma-project.io"
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func definitionDeleted(ctx context.Context, s *operation.Scenario) (mender, error) {
	return eventually(func(ctx context.Context, s *operation.Scenario) error {
		return s.Home.Client.Delete(ctx, definitionOf(s))
	})(ctx, s)
}

// definitionStuck deletes the definition while a finalizer of a user holds the custom resource.
func definitionStuck(ctx context.Context, s *operation.Scenario) (mender, error) {
	resource := s.Contents[s.Web]["1.0.0"].DefaultCR
	finalizers := func(ctx context.Context, patch string) error {
		return s.Home.Client.Patch(ctx, resource.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)))
	}
	stop, err := eventually(func(ctx context.Context, s *operation.Scenario) error {
		if err := finalizers(ctx, `{"metadata":{"finalizers":["example.com/hold"]}}`); err != nil {
			return err
		}
		return s.Home.Client.Delete(ctx, definitionOf(s))
	})(ctx, s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		err := stop(ctx)
		if patchErr := finalizers(ctx, `{"metadata":{"finalizers":null}}`); patchErr != nil && !apierrors.IsNotFound(patchErr) &&
			!strings.Contains(patchErr.Error(), "no matches") {
			err = errors.Join(err, patchErr)
		}
		return err
	}, nil
}

// namespaceDeleted deletes kyma-system; the deletion is stuck until the fix, which completes it with everything in the namespace.
func namespaceDeleted(ctx context.Context, s *operation.Scenario) (mender, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}}
	if err := s.Home.Client.Delete(ctx, namespace); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		for _, kind := range []string{"Kyma", "ModuleTemplate", "ModuleReleaseMeta"} {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
			err := s.Home.Client.DeleteAllOf(ctx, object, client.InNamespace(v1beta2.RuntimeNamespace))
			if err != nil && !apierrors.IsNotFound(err) && !strings.Contains(err.Error(), "no matches") {
				return fmt.Errorf("cannot empty the namespace: %w", err)
			}
		}
		if err := s.Home.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
			return client.IgnoreNotFound(err)
		}
		namespace.Spec.Finalizers = nil
		return client.IgnoreNotFound(s.Home.Client.SubResource("finalize").Update(ctx, namespace))
	}, nil
}

// quarrel sets another value in a field that a module declares.
func quarrel(ctx context.Context, s *operation.Scenario) {
	for ctx.Err() == nil {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"version":"mine"}}`))
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: s.Maps + "-0"}}
		_ = s.Home.Client.Patch(ctx, object, patch, client.FieldOwner("somebody-else")) // it may not exist
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// lostObjects simulates a runtime that returns without some objects, and without the history from which watches would continue.
func lostObjects(ctx context.Context, s *operation.Scenario) (mender, error) {
	return together(reach(home, proxy.Refused), func(ctx context.Context, s *operation.Scenario) (mender, error) {
		for n := range 2 {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("%s-%d", s.Maps, n)}}
			if err := client.IgnoreNotFound(s.Home.Client.Delete(ctx, object)); err != nil {
				return nil, err
			}
		}
		return nothing, nil
	})(ctx, s)
}

// restored restores the objects of a module to their state at the beginning of the fault, once the operation has changed them.
func restored(ctx context.Context, s *operation.Scenario) (mender, error) {
	list := &corev1.ConfigMapList{}
	if err := s.Home.Client.List(ctx, list, client.InNamespace(metav1.NamespaceDefault)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		s.Home.Proxy.Reach(proxy.Refused)
		defer s.Home.Proxy.Reach(proxy.Open)
		now := &corev1.ConfigMapList{}
		if err := s.Home.Client.List(ctx, now, client.InNamespace(metav1.NamespaceDefault)); err != nil {
			return err
		}
		before := map[string]corev1.ConfigMap{}
		for _, object := range list.Items {
			before[object.Name] = object
		}
		for i := range now.Items {
			object := &now.Items[i]
			if !strings.HasPrefix(object.Name, s.Maps+"-") || object.Name == s.Maps+"-9" {
				continue
			}
			old, known := before[object.Name]
			var err error
			if !known {
				err = client.IgnoreNotFound(s.Home.Client.Delete(ctx, object))
			} else if old.ResourceVersion != object.ResourceVersion {
				object.Data, object.Labels, object.Annotations = old.Data, old.Labels, old.Annotations
				err = s.Home.Client.Update(ctx, object)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, nil
}
