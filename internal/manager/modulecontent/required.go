package modulecontent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// required returns what the label of a component version says that it requires. The label's value is the list as a text, or the list itself.
func required(c *descriptor.Component) ([]requirements.Requirement, error) {
	at := slices.IndexFunc(c.Labels, func(label descriptor.Label) bool { return label.Name == v1beta2.AnnotationRequires })
	if at < 0 {
		return nil, nil
	}
	value := c.Labels[at].Value
	text := string(value)
	if inner := ""; json.Unmarshal(value, &inner) == nil {
		text = inner
	}
	list, err := requirements.ParseList(text)
	if err == nil {
		err = errors.Join(requirements.Validate(list)...)
	}
	if err != nil {
		return nil, &descriptor.Error{
			Reason: descriptor.ReasonInvalid,
			Err:    fmt.Errorf("component %s:%s has a label %s that cannot be used: %w", c.Name, c.Version, v1beta2.AnnotationRequires, err),
		}
	}
	return list, nil
}
