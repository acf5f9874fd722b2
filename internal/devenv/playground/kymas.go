//go:build unix

package playground

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	remoteKyma = "demo"
	localKyma  = "local-demo"
	// oldKyma is the Kyma whose access the sample Manifest of v1alpha1 requires, in the namespace default.
	oldKyma = "kyma-sample"
	// runtimeUser is the manager's user in the runtime, a member of the group with all permissions.
	runtimeUser  = "lifecycle-manager"
	runtimeGroup = "system:masters"
	// readyPatience is far longer than an otherwise idle machine needs.
	readyPatience = 3 * time.Minute
)

// kymas returns one Kyma for the runtime and one for the hub itself. Module ledger is left for users to enable.
func kymas() []*v1beta2.Kyma {
	local := false
	return []*v1beta2.Kyma{
		kyma(remoteKyma, nil, moduleGreeter, moduleNotes),
		kyma(localKyma, &local, moduleGreeter),
	}
}

func kyma(name string, remote *bool, modules ...string) *v1beta2.Kyma {
	k := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name},
		Spec:       v1beta2.KymaSpec{Channel: channelRegular, Remote: remote},
	}
	for _, module := range modules {
		k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: module})
	}
	return k
}

// applyKymas creates the Kymas and the access Secret of the runtime.
func (p *playground) applyKymas(ctx context.Context) error {
	doing := fmt.Sprintf("creating Kyma %s for the runtime, its access Secret, and Kyma %s for the hub itself", remoteKyma, localKyma)
	return p.progress.step("kymas", doing, func() (string, error) {
		access, err := RuntimeAccess(p.runtime.ControlPlane)
		if err != nil {
			return "", err
		}
		objects := []client.Object{
			AccessSecret(v1beta2.DefaultNamespace, remoteKyma, access),
			AccessSecret(metav1.NamespaceDefault, oldKyma, access),
		}
		for _, k := range kymas() {
			objects = append(objects, k)
		}
		for _, object := range objects {
			if err := p.hub.client.Create(ctx, object); err != nil {
				return "", fmt.Errorf("cannot create %T %s: %w", object, object.GetName(), err)
			}
		}
		return "exist", nil
	})
}

// RuntimeAccess returns the kubeconfig with which the manager reaches a runtime.
func RuntimeAccess(plane *localcluster.ControlPlane) ([]byte, error) {
	return plane.UserKubeconfig(runtimeUser, runtimeGroup)
}

// awaitKymas shows every change until all are Ready.
func (p *playground) awaitKymas(ctx context.Context) error {
	return p.progress.step("kymas", "waiting until both are Ready", func() (string, error) {
		shown := map[string]string{}
		err := wait.PollUntilContextTimeout(ctx, pollInterval, readyPatience, true, func(ctx context.Context) (bool, error) {
			select {
			case <-p.crew.Ended():
				return false, p.crew.Failure()
			default:
			}
			return p.showKymas(ctx, shown)
		})
		if wait.Interrupted(err) && ctx.Err() == nil {
			return "", errors.Join(fmt.Errorf("not Ready after %s; the last that was seen: %s is %s, %s is %s",
				readyPatience, remoteKyma, shown[remoteKyma], localKyma, shown[localKyma]), p.whyNot(ctx))
		}
		return "are Ready", err
	})
}

// showKymas shows what changed since the last call, and reports whether all are Ready.
func (p *playground) showKymas(ctx context.Context, shown map[string]string) (bool, error) {
	list := &v1beta2.KymaList{}
	if err := p.hub.client.List(ctx, list, client.InNamespace(v1beta2.DefaultNamespace)); err != nil {
		return false, err
	}
	done := len(list.Items) > 0
	for i := range list.Items {
		k := &list.Items[i]
		if line := Describe(k); shown[k.Name] != line {
			shown[k.Name] = line
			p.progress.notef(k.Name, "%s", line)
		}
		done = done && Ready(k)
	}
	return done, nil
}

// whyNot returns the messages of the Kymas that are not Ready.
func (p *playground) whyNot(ctx context.Context) error {
	list := &v1beta2.KymaList{}
	if err := p.hub.client.List(ctx, list, client.InNamespace(v1beta2.DefaultNamespace)); err != nil {
		return err
	}
	var why error
	for i := range list.Items {
		k := &list.Items[i]
		condition := meta.FindStatusCondition(k.Status.Conditions, v1beta2.ConditionReady)
		if condition != nil && !Ready(k) {
			why = errors.Join(why, fmt.Errorf("%s says: %s", k.Name, condition.Message))
		}
	}
	return why
}
