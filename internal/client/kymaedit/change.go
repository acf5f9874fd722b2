package kymaedit

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Action is the result of an edit for one module.
type Action string

// The actions.
const (
	Enabled   Action = "enabled"
	Disabled  Action = "disabled"
	Changed   Action = "changed"
	Unchanged Action = "unchanged"
)

// Change is the effect of one edit on one entry of a spec.
type Change struct {
	// Module is the entry's name, empty for the Kyma's own fields.
	Module string
	Action Action
	// Fields that changed, by their names in the spec, sorted.
	Fields []string
}

// Enable adds a module to the spec, or changes its entry as far as the wish requires. A channel replaces a version and the other way round,
// since the API allows only one of them.
func Enable(spec *v1beta2.KymaSpec, wish ModuleRequest) Change {
	entry, action := find(spec, wish.Name), Changed
	if entry == nil {
		spec.Modules = append(spec.Modules, v1beta2.Module{Name: wish.Name})
		entry, action = &spec.Modules[len(spec.Modules)-1], Enabled
	}
	before := *entry.DeepCopy()
	if wish.Channel != "" {
		entry.Channel, entry.Version = wish.Channel, ""
	}
	if wish.Version != "" {
		entry.Channel, entry.Version = "", wish.Version
	}
	entry.CustomResourcePolicy = cmp.Or(wish.Policy, entry.CustomResourcePolicy)
	entry.UpgradeStrategy = cmp.Or(wish.Strategy, entry.UpgradeStrategy)
	entry.Values = cmp.Or(wish.Values.DeepCopy(), entry.Values)
	return compareEntry(action, &before, entry)
}

// Follow lets a module follow the Kyma's own channel again, without a channel or a version of its own.
func Follow(spec *v1beta2.KymaSpec, name string) Change {
	entry := find(spec, name)
	if entry == nil {
		return Change{Module: name, Action: Unchanged}
	}
	before := *entry.DeepCopy()
	entry.Channel, entry.Version = "", ""
	return compareEntry(Changed, &before, entry)
}

// Disable removes a module from the spec.
func Disable(spec *v1beta2.KymaSpec, name string) Change {
	if find(spec, name) == nil {
		return Change{Module: name, Action: Unchanged}
	}
	spec.Modules = slices.DeleteFunc(spec.Modules, func(m v1beta2.Module) bool { return m.Name == name })
	return Change{Module: name, Action: Disabled}
}

// Manage sets whether the operator manages a module of the spec, and with which policy; an empty policy leaves that of the entry.
func Manage(spec *v1beta2.KymaSpec, name string, managed bool, policy v1beta2.CustomResourcePolicy) Change {
	entry := find(spec, name)
	if entry == nil {
		return Change{Module: name, Action: Unchanged}
	}
	before := *entry.DeepCopy()
	if managed != IsManaged(entry) {
		entry.Managed = &managed
	}
	entry.CustomResourcePolicy = cmp.Or(policy, entry.CustomResourcePolicy)
	return compareEntry(Changed, &before, entry)
}

// SetChannel sets the channel of the Kyma itself.
func SetChannel(spec *v1beta2.KymaSpec, channel string) Change {
	if spec.Channel == channel {
		return Change{Action: Unchanged}
	}
	spec.Channel = channel
	return Change{Action: Changed, Fields: []string{"channel"}}
}

// Entry returns the module's entry in a spec, nil when there is none.
func Entry(spec *v1beta2.KymaSpec, name string) *v1beta2.Module { return find(spec, name) }

// IsManaged reports whether the operator manages a module, which it does unless the entry says otherwise.
func IsManaged(entry *v1beta2.Module) bool { return entry.Managed == nil || *entry.Managed }

func find(spec *v1beta2.KymaSpec, name string) *v1beta2.Module {
	i := slices.IndexFunc(spec.Modules, func(m v1beta2.Module) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &spec.Modules[i]
}

// compareEntry compares an entry with its previous state.
func compareEntry(action Action, before, after *v1beta2.Module) Change {
	change := Change{Module: after.Name, Action: action}
	differs := func(field string, different bool) {
		if different {
			change.Fields = append(change.Fields, field)
		}
	}
	differs("approved", before.Approved != after.Approved)
	differs("avoid", before.Avoid != after.Avoid)
	differs("backTo", before.BackTo != after.BackTo)
	differs("channel", before.Channel != after.Channel)
	differs("customResourcePolicy", before.CustomResourcePolicy != after.CustomResourcePolicy)
	differs("managed", IsManaged(before) != IsManaged(after))
	differs("retry", before.Retry != after.Retry)
	differs("upgradeStrategy", before.UpgradeStrategy != after.UpgradeStrategy)
	differs("values", !module.SameValues(before.Values, after.Values))
	differs("version", before.Version != after.Version)
	if action == Changed && len(change.Fields) == 0 {
		change.Action = Unchanged
	}
	return change
}
