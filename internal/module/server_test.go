package module

import (
	"encoding/json"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// carryOut returns the Snapshot after an API server has carried out a plan. No other field manager has set any of our fields.
func carryOut(w Snapshot, plan Plan) Snapshot {
	after := w
	after.Kyma = w.Kyma.DeepCopy()
	after.Manifests = nil
	for i := range w.Manifests {
		after.Manifests = append(after.Manifests, *w.Manifests[i].DeepCopy())
	}
	find := func(name string) int {
		return slices.IndexFunc(after.Manifests, func(m v1beta2.Manifest) bool { return m.Name == name })
	}
	for _, want := range plan.Apply {
		if at := find(want.Name); at >= 0 {
			after.Manifests[at] = *stored(want, &after.Manifests[at])
		} else {
			after.Manifests = append(after.Manifests, *stored(want, nil))
		}
	}
	for _, adjustment := range plan.Adjust {
		at := find(adjustment.Manifest.Name)
		after.Manifests[at] = *merged(&after.Manifests[at], adjustment.Patch)
	}
	for i := range plan.Delete {
		if at := find(plan.Delete[i].Name); after.Manifests[at].DeletionTimestamp == nil {
			dying(&after.Manifests[at])
		}
	}
	return after
}

// merged returns a Manifest after a JSON merge patch.
func merged(manifest *v1beta2.Manifest, patch []byte) *v1beta2.Manifest {
	var body, with map[string]any
	raw, err := json.Marshal(manifest)
	must(err)
	must(json.Unmarshal(raw, &body))
	must(json.Unmarshal(patch, &with))
	mergeInto(body, with)
	raw, err = json.Marshal(body)
	must(err)
	after := &v1beta2.Manifest{}
	must(json.Unmarshal(raw, after))
	after.ResourceVersion = next(after.ResourceVersion)
	if _, spec := with["spec"]; spec {
		after.Generation++
	}
	return after
}

func mergeInto(body, with map[string]any) {
	for key, value := range with {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(body, key)
		case isMap:
			if _, there := body[key].(map[string]any); !there {
				body[key] = map[string]any{}
			}
			mergeInto(body[key].(map[string]any), inner)
		default:
			body[key] = value
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
