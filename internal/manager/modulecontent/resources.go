package modulecontent

import "github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"

// rawManifest is the resource that is installed first.
const rawManifest = descriptor.ResourceManifest
