package packaging

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
)

// ReleaseMeta returns the ModuleReleaseMeta for the first version of a module, in a channel. A mandatory module has no channels.
func ReleaseMeta(c *moduleconfig.Config, channel, namespace string) *v1beta2.ModuleReleaseMeta {
	meta := NewReleaseMeta(c.ModuleName(), c.Name, namespace)
	if c.Mandatory {
		meta.Spec.Mandatory = &v1beta2.Mandatory{Version: c.Version}
		return meta
	}
	meta.Spec.Channels = []v1beta2.ChannelVersion{{Channel: channel, Version: c.Version}}
	return meta
}

// NewReleaseMeta returns a ModuleReleaseMeta without any version.
func NewReleaseMeta(module, component, namespace string) *v1beta2.ModuleReleaseMeta {
	return &v1beta2.ModuleReleaseMeta{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleReleaseMeta"},
		ObjectMeta: metav1.ObjectMeta{Name: module, Namespace: namespace},
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: module, OCMComponentName: component},
	}
}
