package operation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

func nothing(context.Context, *Scenario) error { return nil }

// install prepares most operations: a Kyma with both modules, Ready.
func install(ctx context.Context, s *Scenario) error {
	if err := createKyma(ctx, s); err != nil {
		return err
	}
	return Await(ctx, s, installed(v1), prepareWithin)
}

func installWithSpare(ctx context.Context, s *Scenario) error {
	if err := s.offer(ctx, s.Spare); err != nil {
		return err
	}
	if err := install(ctx, s); err != nil {
		return err
	}
	return Await(ctx, s, catalogued, prepareWithin)
}

func createKyma(ctx context.Context, s *Scenario) error {
	secret, err := s.newAccess()
	if err != nil {
		return err
	}
	kyma := s.Kyma()
	kyma.Spec.Modules = s.Modules
	for _, object := range []client.Object{secret, kyma} {
		if err := s.Rig.Hub.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// newAccess returns an access Secret with a new token.
func (s *Scenario) newAccess() (*corev1.Secret, error) {
	token, err := s.Home.Proxy.Grant(s.Home.Config)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := s.Home.Proxy.KubeconfigOf(token)
	if err != nil {
		return nil, err
	}
	s.Token = token
	return testkit.NewAccessSecret(s.Kyma().Name, kubeconfig), nil
}

// SetAccess writes a kubeconfig into the access Secret, which it creates if it does not exist.
func (s *Scenario) SetAccess(ctx context.Context, kubeconfig []byte) error {
	secret := testkit.NewAccessSecret(s.Kyma().Name, kubeconfig)
	err := edit(ctx, s.Rig.Hub, testkit.NewAccessSecret(s.Kyma().Name, nil), func(live *corev1.Secret) { live.Data = secret.Data })
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		return s.Rig.Hub.Client.Create(ctx, secret)
	}
	return nil
}

// Access returns the kubeconfig for Home with the present token.
func (s *Scenario) Access() ([]byte, error) { return s.Home.Proxy.KubeconfigOf(s.Token) }

// edit changes the current object, and retries on conflict.
func edit[T client.Object](ctx context.Context, on *rig.Server, object T, change func(T)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := on.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return on.Client.Update(ctx, object)
	})
}

// offerNext offers the second version of every module in all channels.
func offerNext(ctx context.Context, s *Scenario) error {
	for i := range s.Modules {
		err := edit(ctx, s.Rig.Hub, testkit.ModuleReleaseMeta(s.Modules[i].Name), func(release *v1beta2.ModuleReleaseMeta) {
			for i := range release.Spec.Channels {
				release.Spec.Channels[i].Version = v2
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func switchChannel(ctx context.Context, s *Scenario) error {
	return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) { kyma.Spec.Channel = fast })
}

func disable(ctx context.Context, s *Scenario) error {
	return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) { kyma.Spec.Modules = nil })
}

func manage(managed bool) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) {
			for i := range kyma.Spec.Modules {
				kyma.Spec.Modules[i].Managed = &managed
			}
		})
	}
}

func deleteKyma(ctx context.Context, s *Scenario) error {
	return client.IgnoreNotFound(s.Rig.Hub.Client.Delete(ctx, s.Kyma()))
}

// changeOffers withdraws one module, offers another version of a second, and damages the catalog in the runtime: it deletes one definition
// with all its objects, and edits a release.
func changeOffers(ctx context.Context, s *Scenario) error {
	hub, home := s.Rig.Hub.Client, s.Home.Client
	err := edit(ctx, s.Rig.Hub, testkit.ModuleReleaseMeta(s.Maps), func(release *v1beta2.ModuleReleaseMeta) {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: "preview", Version: v2})
	})
	if err != nil {
		return err
	}
	if err := hub.Delete(ctx, testkit.ModuleReleaseMeta(s.Spare)); err != nil {
		return err
	}
	for _, version := range []string{v1, v2} {
		if err := hub.Delete(ctx, testkit.ModuleTemplate(s.Spare, version)); err != nil {
			return err
		}
	}
	edited := testkit.ModuleReleaseMeta(s.Web)
	edited.Namespace = v1beta2.RuntimeNamespace
	err = edit(ctx, s.Home, edited, func(release *v1beta2.ModuleReleaseMeta) { release.Spec.Channels = release.Spec.Channels[:1] })
	if err != nil {
		return fmt.Errorf("edit the catalog of the runtime: %w", err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "moduletemplates." + v1beta2.GroupVersion.Group,
	}}
	return home.Delete(ctx, definition)
}

func rotate(ctx context.Context, s *Scenario) error {
	old := s.Token
	secret, err := s.newAccess()
	if err != nil {
		return err
	}
	if err := s.SetAccess(ctx, secret.Data[v1beta2.AccessSecretKey]); err != nil {
		return err
	}
	s.Home.Proxy.Revoke(old)
	return nil
}

func damage(ctx context.Context, s *Scenario) error {
	return s.Home.Client.Delete(ctx, s.configMap(0))
}

func (s *Scenario) configMap(n int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("%s-%d", s.Maps, n)}}
}
