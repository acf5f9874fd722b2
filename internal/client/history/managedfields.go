package history

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// mostPaths bounds the fields of one edit, and mostDepth how deep they are named.
	mostPaths, mostDepth = 40, 6
	// mostPath bounds the length of one path.
	mostPath = 200
)

// OfManagedFields returns an entry for each client that has written the spec or a label of a Kyma: when it last did, and which fields it
// holds. The server keeps neither the values of before nor the user. With a module, only clients that hold a field of its entry count.
func OfManagedFields(object, module string, managed []metav1.ManagedFieldsEntry) []Entry {
	var all []Entry
	for i := range managed {
		m := &managed[i]
		if m.Subresource != "" || m.Time == nil || m.FieldsV1 == nil {
			continue
		}
		fields := Held(m.FieldsV1.GetRawBytes(), module)
		if len(fields) == 0 {
			continue
		}
		e := Entry{
			At: m.Time.Time, Kind: Edit, Object: object, Module: module, Who: m.Manager, WhoIs: Client,
			What: "the client last wrote the Kyma, and holds these fields",
		}
		for _, path := range fields {
			e.Fields = append(e.Fields, Field{Path: path})
		}
		all = append(all, e)
	}
	return all
}

// Held returns the fields of the spec and the labels that a set of managed fields names, sorted. With a module, only those of its entry.
// What is not understood is left out.
func Held(raw []byte, module string) []string {
	var set map[string]any
	if json.Unmarshal(raw, &set) != nil {
		return nil
	}
	found := map[string]bool{}
	if spec, is := set["f:spec"].(map[string]any); is {
		walk(spec, "spec", 1, found)
	}
	if metadata, is := set["f:metadata"].(map[string]any); is && module == "" {
		if labels, is := metadata["f:labels"].(map[string]any); is {
			walk(labels, "metadata.labels", 2, found)
		}
	}
	paths := slices.Sorted(maps.Keys(found))
	if module != "" {
		own := "spec.modules[" + module + "]"
		paths = slices.DeleteFunc(paths, func(p string) bool { return p != own && !strings.HasPrefix(p, own+".") })
	}
	return paths[:min(len(paths), mostPaths)]
}

// walk collects the paths of the leaves of a set: fields "f:name", entries of lists by key, and "." for the entry itself.
func walk(set map[string]any, path string, depth int, found map[string]bool) {
	leaf := true
	for _, key := range slices.Sorted(maps.Keys(set)) {
		next := step(key)
		if next == "" || len(path)+len(next) > mostPath {
			continue
		}
		leaf = false
		below, is := set[key].(map[string]any)
		switch {
		case !is || len(below) == 0 || depth >= mostDepth:
			found[path+next] = true
		default:
			walk(below, path+next, depth+1, found)
		}
	}
	if leaf {
		found[path] = true
	}
}

// step returns what a key of a set adds to a path, "" for what adds nothing.
func step(key string) string {
	kind, rest, cut := strings.Cut(key, ":")
	switch {
	case !cut:
		return "" // "." is the object itself
	case kind == "f" && rest != "":
		return "." + rest
	case kind == "k":
		var by map[string]any
		if json.Unmarshal([]byte(rest), &by) != nil {
			return ""
		}
		if name, is := by["name"].(string); is {
			return "[" + name + "]"
		}
	case kind == "v":
		return "[" + strings.Trim(rest, `"`) + "]"
	}
	return ""
}
