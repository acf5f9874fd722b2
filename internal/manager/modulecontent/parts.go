package modulecontent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Names in status.resolved of sources that are not installations. No installation can have them: names that begin with "spec." are refused.
const (
	// PartConfig is spec.config.
	PartConfig = "spec.config"
	// PartCRDs is spec.crds.
	PartCRDs = "spec.crds"
)

// maxInstalls bounds the installations of one Manifest, as does the schema of additionalInstalls.
const maxInstalls = 33

// parsedSource is one source of a Manifest as given in the spec.
type parsedSource struct {
	name     string
	where    string // the field, for messages
	fields   map[string]json.RawMessage
	format   string
	path     string
	selector *metav1.LabelSelector
	place    SourceType
}

// common are the fields that every source may have.
type common struct {
	Type               string                `json:"type"`
	Path               string                `json:"path"`
	CredSecretSelector *metav1.LabelSelector `json:"credSecretSelector"`
}

var commonKeys = []string{"type", "path", "credSecretSelector"}

// parts returns the sources of a Manifest in the order of installation: definitions, the first installation, the further ones.
func (c *Contents) parts(m *v1beta2.Manifest) ([]parsedSource, error) {
	infos := append([]v1beta2.InstallInfo{m.Spec.Install}, m.Spec.AdditionalInstalls...)
	if len(infos) > maxInstalls {
		return nil, sourceInvalid("spec.additionalInstalls has more than %d entries", maxInstalls-1)
	}
	var all []parsedSource
	if m.Spec.CRDs != nil {
		crds, err := c.image(PartCRDs, m.Spec.CRDs)
		if err != nil {
			return nil, err
		}
		all = append(all, crds)
	}
	names := map[string]bool{}
	for i := range infos {
		where := "spec.install"
		if i > 0 {
			where = fmt.Sprintf("spec.additionalInstalls[%d]", i-1)
		}
		name := infos[i].Name
		if names[name] || strings.HasPrefix(name, "spec.") {
			return nil, sourceInvalid("%s: the name %q is taken: give each installation its own name", where, name)
		}
		names[name] = true
		part, err := c.ask(name, where+".source", infos[i].Source.Raw)
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	return all, nil
}

// image parses an ImageSpec field. A layer without a type is one YAML file.
func (c *Contents) image(name string, spec *v1beta2.ImageSpec) (parsedSource, error) {
	raw, err := json.Marshal(spec)
	if err != nil {
		return parsedSource{}, fmt.Errorf("%s cannot be encoded: %w", name, err)
	}
	return c.ask(name, name, raw)
}

// ask parses one source, which must name exactly one place and have no unknown fields.
func (c *Contents) ask(name, where string, raw []byte) (parsedSource, error) {
	part := parsedSource{name: name, where: where, fields: map[string]json.RawMessage{}}
	shared := common{}
	if err := errors.Join(json.Unmarshal(raw, &part.fields), json.Unmarshal(raw, &shared)); err != nil {
		return part, sourceInvalid("%s cannot be read: %v", where, err)
	}
	for key, value := range part.fields {
		if string(value) == "null" || string(value) == `""` {
			delete(part.fields, key) // equivalent to an absent field
		}
	}
	if err := c.choose(&part); err != nil {
		return part, err
	}
	part.format, part.path, part.selector = shared.Type, shared.Path, shared.CredSecretSelector
	if part.format == "" {
		part.format = part.place.Format()
	}
	if _, known := c.Formats[part.format]; !known {
		return part, &content.Error{
			Reason: v1beta2.ReasonSourceUnsupported,
			Err: fmt.Errorf("%s.type %q is not supported by this version of the operator: use one of %s",
				where, part.format, strings.Join(slices.Sorted(maps.Keys(c.Formats)), ", ")),
		}
	}
	return part, nil
}

// choose sets the place that a source names.
func (c *Contents) choose(part *parsedSource) error {
	var named []string
	for _, place := range c.Places {
		if key := place.Keys()[0]; part.fields[key] != nil {
			named, part.place = append(named, key), place
		}
	}
	if len(named) != 1 {
		var all []string
		for _, place := range c.Places {
			all = append(all, place.Keys()[0])
		}
		return sourceInvalid("%s names %d places %v: exactly one of %s is needed", part.where, len(named), named, strings.Join(all, ", "))
	}
	known := append(slices.Clone(commonKeys), part.place.Keys()...)
	for _, key := range slices.Sorted(maps.Keys(part.fields)) {
		if !slices.Contains(known, key) {
			return sourceInvalid("%s.%s is not known: beside %s there can be %s", part.where, key, named[0], strings.Join(known, ", "))
		}
	}
	return nil
}

func sourceInvalid(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonSourceInvalid, Err: fmt.Errorf(format, args...)}
}
