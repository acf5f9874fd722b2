package modulecontent

import (
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// NeedsCapabilities reports whether a source of a Manifest is rendered differently for different clusters.
func (c *Contents) NeedsCapabilities(m *v1beta2.Manifest) (bool, error) {
	parts, err := c.everything(m)
	if err != nil {
		return false, err
	}
	for i := range parts {
		if parts[i].name != PartConfig && c.Formats[parts[i].format].Values {
			return true, nil
		}
	}
	return false, nil
}
