package versioncontent

import (
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// CapabilitiesOf returns what a cluster says about itself. API groups whose servers do not answer are left out.
func CapabilitiesOf(config *rest.Config) (Capabilities, error) {
	cluster, err := installer.Connect(config)
	if err != nil {
		return Capabilities{}, err
	}
	made := Capabilities{}
	made.KubeVersion, made.APIVersions, err = cluster.Capabilities()
	return made, err
}
