package testbench

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// idleObjects is how many objects the inventory of each idle Manifest has.
const idleObjects = 20

// trouble is what is wrong with a idle module: of a hundred Kymas, those from on to below until have it.
type trouble struct {
	from, until     int
	state           v1beta2.State
	reason, message string
}

// troubles are those of the first module of a Kyma; the others are ready.
var troubles = []trouble{
	{0, 4, v1beta2.StateError, v1beta2.ReasonRuntimeUnreachable, "dial tcp 10.0.%d.7:6443: connect: connection refused"},
	{4, 6, v1beta2.StateError, v1beta2.ReasonQuotaExceeded, "Deployment kyma-system/modulea: exceeded quota %d pods"},
	{6, 9, v1beta2.StateWarning, v1beta2.ReasonModuleCRNotReady, "Modulea kyma-system/default is in state Warning: %d entries are invalid"},
	{9, 12, v1beta2.StateProcessing, v1beta2.ReasonWaitingForProbe, "waits for %d objects"},
}

// CreateIdleKymas writes Kymas, the Manifests of their modules and what the catalog says of these, with a status as a manager writes
// it. The namespace of the hub must exist. No manager may run: it would find no runtimes.
func CreateIdleKymas(ctx context.Context, c client.Client, kymas, modules int) error {
	for module := range modules {
		if err := createIdleOffer(ctx, c, idleModule(module)); err != nil {
			return err
		}
	}
	return many(ctx, 0, kymas, func(ctx context.Context, i int) error { return createIdleKyma(ctx, c, i, modules) })
}

func idleModule(i int) string { return fmt.Sprintf("module%c", 'a'+i) }

func createIdleOffer(ctx context.Context, c client.Client, module string) error {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module}}
	release.Spec.ModuleName, release.Spec.OCMComponentName = module, componentName(module)
	for channel, version := range map[string]string{v1beta2.DefaultChannel: "1.1.0", "fast": "1.2.0"} {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channel, Version: version})
	}
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module + "-" + version}}
		template.Spec.ModuleName, template.Spec.Version = module, version
		if err := c.Create(ctx, template); err != nil {
			return err
		}
	}
	return c.Create(ctx, release)
}

func createIdleKyma(ctx context.Context, c client.Client, i, modules int) error {
	kyma := NewKyma(KymaName(i))
	kyma.Labels = map[string]string{
		"env": []string{"dev", "stage", "prod"}[i%3], "region": fmt.Sprintf("region-%d", i%7), "tenant": fmt.Sprintf("tenant-%03d", i/4),
	}
	if i%5 == 0 {
		kyma.Spec.Channel = "fast"
	}
	status := v1beta2.KymaStatus{State: v1beta2.StateReady, ObservedGeneration: 1}
	for j := range modules {
		one := idleStatus(i, j, kyma.Spec.Channel)
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: one.Name})
		status.Modules = append(status.Modules, one)
		if one.State != v1beta2.StateReady {
			status.State = one.State
		}
		if err := createIdleManifest(ctx, c, kyma.Name, one); err != nil {
			return err
		}
	}
	if err := c.Create(ctx, kyma); err != nil {
		return err
	}
	kyma.Status = status
	return c.Status().Update(ctx, kyma)
}

func idleStatus(kyma, module int, channel string) v1beta2.ModuleStatus {
	version := map[string]string{"fast": "1.2.0"}[channel]
	if version == "" {
		version = []string{"1.1.0", "1.1.0", "1.0.0"}[(kyma+module)%3]
	}
	name := idleModule(module)
	one := v1beta2.ModuleStatus{
		Name: name, Channel: channel, Version: version, State: v1beta2.StateReady,
		Manifest: &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{
			Namespace: v1beta2.DefaultNamespace, Name: KymaName(kyma) + "-" + name, Generation: 1,
		}},
	}
	for _, t := range troubles {
		if module == 0 && kyma%100 >= t.from && kyma%100 < t.until {
			one.State, one.Reason, one.Message = t.state, t.reason, fmt.Sprintf(t.message, kyma%50)
		}
	}
	return one
}

func createIdleManifest(ctx context.Context, c client.Client, kyma string, of v1beta2.ModuleStatus) error {
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: v1beta2.DefaultNamespace, Name: kyma + "-" + of.Name,
		Labels: map[string]string{
			v1beta2.LabelKymaName: kyma, v1beta2.LabelModuleName: of.Name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		},
	}}
	manifest.Spec.Version, manifest.Spec.Install.Name, manifest.Spec.Install.Source.Raw = of.Version, "raw-manifest", []byte(`{}`)
	if err := c.Create(ctx, manifest); err != nil {
		return err
	}
	manifest.Status = v1beta2.ManifestStatus{State: of.State, ObservedGeneration: 1}
	manifest.Status.Operation, manifest.Status.LastUpdateTime = of.Message, metav1.NewTime(time.Now())
	for i := range idleObjects {
		manifest.Status.Synced = append(manifest.Status.Synced, v1beta2.Resource{
			Version: "v1", Kind: "ConfigMap", Namespace: v1beta2.RuntimeNamespace, Name: fmt.Sprintf("%s-%d", of.Name, i), Hash: "0123456789abcdef",
		})
	}
	return c.Status().Update(ctx, manifest)
}
