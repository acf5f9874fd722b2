package resourcetree

import (
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

// MostFields bounds how many fields a difference has.
const MostFields = 200

// Field is a field in which the cluster differs from what a version sets. Live is empty where it is absent.
type Field struct {
	Path   string `json:"path"`
	Wanted string `json:"wanted"`
	Live   string `json:"live"`
}

// Difference returns in which of the fields that wanted sets the live object differs, ordered by path, and how many more there are. What
// the API server fills in, what others add, and another way to write the same quantity is no difference. The values of Secrets are hidden.
func Difference(wanted, live *unstructured.Unstructured, hide fielddiff.Secrets) (fields []Field, more int) {
	want, have := stored(wanted), &unstructured.Unstructured{Object: maps.Clone(live.Object)}
	c := &comparison{builtin: isBuiltin(wanted)}
	have.Object, _ = c.project(want.Object, live.Object, nil).(map[string]any)
	have.SetAPIVersion(want.GetAPIVersion()) // the API server may answer in another version
	masked, alsoMasked := mask(want.Object, have.Object)
	want.Object, _ = masked.(map[string]any)
	have.Object, _ = alsoMasked.(map[string]any)
	for _, f := range hide.Compare(want, have) {
		if len(fields) == MostFields {
			more++
			continue
		}
		fields = append(fields, Field{Path: f.Path, Wanted: f.From, Live: f.To})
	}
	return fields, more
}

// stored returns what a version sets of an object: no status, and the data of a Secret as the API server keeps it.
func stored(wanted *unstructured.Unstructured) *unstructured.Unstructured {
	fields := maps.Clone(wanted.Object)
	delete(fields, "status")
	if metadata, is := fields["metadata"].(map[string]any); is {
		if annotations, is := metadata["annotations"].(map[string]any); is {
			metadata, annotations = maps.Clone(metadata), maps.Clone(annotations)
			delete(annotations, lastApplied) // a copy of the rest, and maybe of a Secret
			metadata["annotations"], fields["metadata"] = annotations, metadata
		}
	}
	if plain, is := fields["stringData"].(map[string]any); is && isSecret(fields) {
		data := map[string]any{}
		if encoded, is := fields["data"].(map[string]any); is {
			maps.Copy(data, encoded)
		}
		for key, value := range plain {
			data[key] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(value)))
		}
		fields["data"] = data
		delete(fields, "stringData")
	}
	return &unstructured.Unstructured{Object: fields}
}

// mask returns two states without the values of the Secrets in them: equal values stay equal.
func mask(wanted, live any) (any, any) {
	switch want := wanted.(type) {
	case map[string]any:
		have, _ := live.(map[string]any)
		if have == nil {
			made, _ := mask(want, map[string]any{})
			return made, live
		}
		return maskFields(want, have)
	case []any:
		have, is := live.([]any)
		made, other := make([]any, len(want)), slices.Clone(have)
		for i := range want {
			var counterpart any
			if i < len(have) {
				counterpart = have[i]
			}
			masked, alsoMasked := mask(want[i], counterpart)
			if made[i] = masked; i < len(have) {
				other[i] = alsoMasked
			}
		}
		for i := len(want); i < len(have); i++ {
			other[i], _ = mask(have[i], nil)
		}
		if !is {
			return made, live
		}
		return made, other
	}
	if fields, is := live.(map[string]any); is {
		masked, _ := mask(fields, nil)
		return wanted, masked
	}
	return wanted, live
}

func maskFields(want, have map[string]any) (any, any) {
	made, other := maps.Clone(want), maps.Clone(have)
	secret := isSecret(want) || isSecret(have)
	for _, key := range slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(have))) {
		value, wants := want[key]
		counterpart, has := have[key]
		masked, alsoMasked := mask(value, counterpart)
		if secret && (key == "data" || key == "stringData") {
			masked, alsoMasked = maskData(value, counterpart)
		}
		if wants {
			made[key] = masked
		}
		if has {
			other[key] = alsoMasked
		}
	}
	return made, other
}

// differs stands for a value of a Secret that is another one in the cluster.
const differs = "(hidden, another value)"

// maskData masks the values of a Secret.
func maskData(wanted, live any) (any, any) {
	want, is := wanted.(map[string]any)
	have, alsoIs := live.(map[string]any)
	if !is && wanted != nil || !alsoIs && live != nil {
		return fielddiff.SecretValue, differs
	}
	made, other := make(map[string]any, len(want)), make(map[string]any, len(have))
	for key := range want {
		made[key] = fielddiff.SecretValue
	}
	for key, value := range have {
		other[key] = differs
		if before, has := want[key]; has && reflect.DeepEqual(before, value) {
			other[key] = fielddiff.SecretValue
		}
	}
	return made, other
}

// isBuiltin reports whether an object is of Kubernetes itself, whose types leave out values that are zero.
func isBuiltin(o *unstructured.Unstructured) bool {
	group := o.GroupVersionKind().Group
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

type comparison struct{ builtin bool }

// project returns what live has of the fields of wanted, with the values of wanted where they mean the same.
func (c *comparison) project(wanted, live any, path []string) any {
	if live == nil {
		if c.means(wanted) {
			return nil
		}
		return wanted
	}
	switch want := wanted.(type) {
	case map[string]any:
		have, is := live.(map[string]any)
		if !is {
			return live
		}
		made := make(map[string]any, len(want))
		for key, inner := range want {
			value, has := have[key]
			if !has && c.means(inner) {
				continue
			}
			made[key] = c.project(inner, value, append(slices.Clip(path), key)) // without it, an absent value means the same
		}
		return made
	case []any:
		have, is := live.([]any)
		if !is {
			return live
		}
		return c.list(want, have, path)
	}
	if same(wanted, live, path) {
		return wanted
	}
	return live
}

// means reports whether an absent value would differ from this one.
func (c *comparison) means(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), c.means)
	case []any:
		return len(v) > 0
	}
	return !c.builtin || !reflect.ValueOf(value).IsZero()
}

// list compares items by name where all have one, and otherwise by position.
func (c *comparison) list(wanted, live []any, path []string) []any {
	_, named := byName(wanted)
	have, alsoNamed := byName(live)
	made := make([]any, 0, len(wanted))
	switch {
	case named && alsoNamed && len(wanted) > 0:
		for _, item := range wanted {
			fields, _ := item.(map[string]any)
			name, _ := fields["name"].(string)
			if other, has := have[name]; has {
				made = append(made, c.project(item, other, path))
			}
		}
	case len(path) > 1 && path[len(path)-1] == "finalizers":
		for _, item := range wanted {
			if slices.Contains(live, item) {
				made = append(made, item)
			}
		}
	default:
		for i, item := range live {
			if i < len(wanted) {
				item = c.project(wanted[i], item, path)
			}
			made = append(made, item)
		}
	}
	return made
}

// byName returns items by their names; false unless each has one of its own.
func byName(list []any) (map[string]any, bool) {
	names := map[string]any{}
	for _, item := range list {
		fields, _ := item.(map[string]any)
		name, has := fields["name"].(string)
		if _, twice := names[name]; !has || twice {
			return nil, false
		}
		names[name] = item
	}
	return names, true
}

// same reports whether two leaves mean the same: numbers of any type, and quantities in any spelling.
func same(wanted, live any, path []string) bool {
	if reflect.DeepEqual(wanted, live) || isNumber(wanted) && isNumber(live) && fmt.Sprint(wanted) == fmt.Sprint(live) {
		return true
	}
	if !slices.ContainsFunc(path, func(key string) bool { return slices.Contains(quantities, key) }) {
		return false
	}
	one, err := resource.ParseQuantity(fmt.Sprint(wanted))
	other, alsoErr := resource.ParseQuantity(fmt.Sprint(live))
	return err == nil && alsoErr == nil && one.Cmp(other) == 0
}

// quantities are the fields that hold quantities, or maps of them.
var quantities = []string{"limits", "requests", "hard", "capacity", "sizeLimit", "divisor", "max", "min", "default", "defaultRequest"}

func isNumber(value any) bool {
	switch value.(type) {
	case int, int32, int64, float64:
		return true
	}
	return false
}
