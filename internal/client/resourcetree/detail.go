package resourcetree

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// mostListed bounds the lists of a detail, and mostMessage their texts.
	mostListed, mostMessage = 50, 2048
)

// Condition is one condition of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Since   string `json:"since,omitempty"`
}

// Owner is an object that owns another one.
type Owner struct {
	modulestatus.Ref

	Controller bool `json:"controller"`
}

// ContainerKind says when a container runs.
type ContainerKind string

// The kinds of containers.
const (
	InitContainer      ContainerKind = "init"
	SidecarContainer   ContainerKind = "sidecar"
	MainContainer      ContainerKind = "container"
	EphemeralContainer ContainerKind = "ephemeral"
)

// Container is one container of a pod.
type Container struct {
	Name  string        `json:"name"`
	Kind  ContainerKind `json:"kind"`
	Image string        `json:"image,omitempty"`
	// State is "running", "waiting" or "terminated", empty before the node has said anything; Reason is why.
	State    string `json:"state,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Ready    bool   `json:"ready"`
	Restarts int64  `json:"restarts"`
	// Previous reports whether there may be the log of an earlier run.
	Previous bool `json:"previous"`
}

// ConditionsOf returns the conditions of an object. A condition that is not well-formed is left out.
func ConditionsOf(o *unstructured.Unstructured) []Condition {
	all := []Condition{}
	for _, c := range listAt(o.Object, "status", "conditions") {
		one := Condition{
			Type: textOf(c, "type"), Status: textOf(c, "status"), Reason: textOf(c, "reason"),
			Message: textOf(c, "message"), Since: textOf(c, "lastTransitionTime"),
		}
		if one.Type != "" && len(all) < mostListed {
			all = append(all, one)
		}
	}
	return all
}

// OwnersOf returns the owners that an object names.
func OwnersOf(o *unstructured.Unstructured) []Owner {
	all := []Owner{}
	refs := o.GetOwnerReferences()
	for i := range refs[:min(len(refs), mostListed)] {
		r := &refs[i]
		all = append(all, Owner{
			Ref:        modulestatus.Ref{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: o.GetNamespace(), Name: r.Name},
			Controller: r.Controller != nil && *r.Controller,
		})
	}
	return all
}

// ContainersOf returns the containers of a pod in the order in which they start; none for any other object.
func ContainersOf(o *unstructured.Unstructured) []Container {
	all := []Container{}
	if gvk := o.GroupVersionKind(); gvk.Group != "" || gvk.Kind != "Pod" {
		return all
	}
	for _, list := range []struct {
		spec, status string
		kind         ContainerKind
	}{
		{"initContainers", "initContainerStatuses", InitContainer}, {"containers", "containerStatuses", MainContainer},
		{"ephemeralContainers", "ephemeralContainerStatuses", EphemeralContainer},
	} {
		statuses := listAt(o.Object, "status", list.status)
		for _, c := range listAt(o.Object, "spec", list.spec) {
			one := Container{Name: textOf(c, "name"), Kind: list.kind, Image: textOf(c, "image")}
			if list.kind == InitContainer && c["restartPolicy"] == "Always" {
				one.Kind = SidecarContainer
			}
			if at := slices.IndexFunc(statuses, func(s map[string]any) bool { return textOf(s, "name") == one.Name }); at >= 0 {
				one.observe(statuses[at])
			}
			if one.Name != "" && len(all) < mostListed {
				all = append(all, one)
			}
		}
	}
	return all
}

// observe fills in what the node says of a container.
func (c *Container) observe(status map[string]any) {
	c.Ready, _ = status["ready"].(bool)
	c.Restarts, _, _ = unstructured.NestedInt64(status, "restartCount")
	states, _ := status["state"].(map[string]any)
	for _, state := range []string{"running", "waiting", "terminated"} {
		if fields, is := states[state].(map[string]any); is {
			c.State, c.Reason = state, textOf(fields, "reason")
		}
	}
	last, _ := status["lastState"].(map[string]any)
	_, ended := last["terminated"].(map[string]any)
	c.Previous = ended || c.Restarts > 0
}

// CreatedOf returns when an object was created, nil if that is not known.
func CreatedOf(o *unstructured.Unstructured) *metav1.Time {
	created := o.GetCreationTimestamp()
	if created.IsZero() {
		return nil
	}
	at := metav1.NewTime(created.UTC())
	return &at
}

// listAt returns the structures of a list, and none where it is something else.
func listAt(fields map[string]any, path ...string) []map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(fields, path...)
	items, _ := value.([]any)
	var all []map[string]any
	for _, item := range items {
		if one, is := item.(map[string]any); is {
			all = append(all, one)
		}
	}
	return all
}

func textOf(fields map[string]any, key string) string {
	text, _ := fields[key].(string)
	return excerpt.Cut(text, mostMessage)
}
