package helm

import (
	"unicode/utf8"

	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// MaxValues is how many bytes values or a config layer may have.
const MaxValues = 1 << 20

// Values reads a YAML or JSON object of values for a chart, with every number as a float64, as Helm reads them. Nothing, and null, are no
// values. A value that is null stays: it takes away what the chart has by default.
func Values(raw []byte) (map[string]any, error) {
	fields, err := onlyObject(raw, "the values")
	if err != nil {
		return nil, err
	}
	for key, value := range fields {
		fields[key] = withFloats(value)
	}
	return fields, nil
}

// MergeValues lays over above base: tables are merged, everything else is replaced. A null in over wins too and stays, as with
// `helm -f base -f over`: rendering then drops the chart's default. Both are left as they are, and share nothing with the result.
func MergeValues(base, over map[string]any) map[string]any {
	merged := make(map[string]any, len(base)+len(over))
	for key, value := range base {
		merged[key] = copied(value)
	}
	for key, value := range over {
		table, isTable := value.(map[string]any)
		below, hasTable := merged[key].(map[string]any)
		if isTable && hasTable {
			merged[key] = MergeValues(below, table)
			continue
		}
		merged[key] = copied(value)
	}
	return merged
}

func copied(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return MergeValues(value, nil)
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = copied(item)
		}
		return items
	default:
		return value
	}
}

// onlyObject reads the one object in raw; empty when there is none. What names it in errors.
func onlyObject(raw []byte, what string) (map[string]any, error) {
	if len(raw) > MaxValues {
		return nil, invalidValues("%s have more than %d KiB: make them smaller", what, MaxValues>>10)
	}
	if !utf8.Valid(raw) {
		return nil, invalidValues("%s are not UTF-8 text", what)
	}
	values, err := render.Decode(raw, MaxValues)
	if err != nil {
		return nil, invalidValues("%s cannot be read: %w", what, err)
	}
	switch len(values) {
	case 0:
		return map[string]any{}, nil
	case 1:
		return values[0], nil
	default:
		return nil, invalidValues("%s are %d documents: make one of them", what, len(values))
	}
}

// withFloats returns the value with every number as Helm has it. The value is ours to change.
func withFloats(value any) any {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case map[string]any:
		for key, field := range value {
			value[key] = withFloats(field)
		}
	case []any:
		for i, item := range value {
			value[i] = withFloats(item)
		}
	}
	return value
}
