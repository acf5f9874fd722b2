package module

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// SeenOf returns the part of a spec that two users may edit, normalised so that equivalent specs are equal: defaults filled in, "managed:
// true" left out, modules sorted by name, and only the first of two entries with the same name. Values that cannot be used are left out.
func SeenOf(spec *v1beta2.KymaSpec) v1beta2.SeenSpec { return seenWith(spec, nil) }

// SeenOnHub is SeenOf for the hub's spec. Where values cannot be used, those that were merged last take their place: until they are
// corrected, the hub has not changed them.
func SeenOnHub(spec *v1beta2.KymaSpec, last *v1beta2.LastSeen) v1beta2.SeenSpec {
	return seenWith(spec, hubIn(last))
}

func seenWith(spec *v1beta2.KymaSpec, before *v1beta2.SeenSpec) v1beta2.SeenSpec {
	seen := v1beta2.SeenSpec{Channel: spec.Channel, SkipMaintenanceWindows: spec.SkipMaintenanceWindows}
	values, _ := usableValues(spec.Modules, before)
	for i := range spec.Modules {
		seen.Modules = append(seen.Modules, seenModule(&spec.Modules[i], values[i]))
	}
	return sorted(normal(seen))
}

// Behind reports whether the hub's spec has changed since it was last merged with the runtime's.
func Behind(spec *v1beta2.KymaSpec, last *v1beta2.LastSeen) bool {
	return last == nil || last.Hub == nil || last.Runtime == nil || !sameSeen(SeenOnHub(spec, last), normal(*last.Hub))
}

// Asks reports whether a spec matches the effective one.
func Asks(spec *v1beta2.KymaSpec, effective v1beta2.SeenSpec) bool {
	return sameSeen(SeenOf(spec), normal(effective))
}

// Apply sets the channel, skipMaintenanceWindows and modules of a spec to the effective ones, and changes nothing else. Entries that are
// equivalent already keep their spelling and position, so that the resulting patch is small.
func Apply(spec *v1beta2.KymaSpec, effective v1beta2.SeenSpec) {
	want := normal(effective)
	if cmp.Or(spec.Channel, v1beta2.DefaultChannel) != want.Channel {
		spec.Channel = want.Channel
	}
	spec.SkipMaintenanceWindows = want.SkipMaintenanceWindows
	open := byName(want.Modules)
	var modules []v1beta2.Module
	for i := range spec.Modules {
		entry := spec.Modules[i]
		if asked := open[entry.Name]; asked != nil {
			delete(open, entry.Name)
			modules = append(modules, fitted(entry, asked))
		}
	}
	for i := range want.Modules {
		if asked := open[want.Modules[i].Name]; asked != nil {
			modules = append(modules, fitted(v1beta2.Module{Name: asked.Name}, asked))
		}
	}
	spec.Modules = modules
}

// AddOwn adds to a spec in force what the runtime's entries say where each side speaks for itself and the hub's says nothing: what becomes
// of an upgrade that fails. The runtime's progressDeadline may only be longer: a short one would turn back every upgrade. What a person
// decided about one version (avoid, retry) counts on the hub only, since it must also be known while the runtime cannot be read.
func AddOwn(effective, runtime *v1beta2.KymaSpec) {
	own := map[string]*v1beta2.Module{}
	for i := range runtime.Modules {
		own[runtime.Modules[i].Name] = &runtime.Modules[i]
	}
	for i := range effective.Modules {
		entry := &effective.Modules[i]
		if from := own[entry.Name]; from != nil {
			entry.OnFailedUpgrade = cmp.Or(entry.OnFailedUpgrade, from.OnFailedUpgrade)
			if from.ProgressDeadline != nil && from.ProgressDeadline.Duration > deadlineOf(entry) {
				entry.ProgressDeadline = from.ProgressDeadline
			}
		}
	}
}

// fitted returns an entry that is equivalent to the requested one. Fields that are not merged between the two sides stay.
func fitted(entry v1beta2.Module, asked *v1beta2.SeenModule) v1beta2.Module {
	values, _ := entryValues(entry.Values)
	is := normalModule(seenModule(&entry, values))
	if sameModule(&is, asked) {
		return entry
	}
	fit := *asked.DeepCopy()
	entry.Name, entry.ControllerName, entry.Channel, entry.Version = fit.Name, fit.ControllerName, fit.Channel, fit.Version
	entry.CustomResourcePolicy, entry.Managed, entry.AllowCRDChanges = fit.CustomResourcePolicy, fit.Managed, fit.AllowCRDChanges
	if values != fit.Values {
		entry.Values = rawValues(fit.Values)
	}
	return entry
}

// seenModule returns an entry as it is merged, with these values.
func seenModule(entry *v1beta2.Module, values string) v1beta2.SeenModule {
	return v1beta2.SeenModule{
		Name: entry.Name, ControllerName: entry.ControllerName, Channel: entry.Channel, Version: entry.Version,
		CustomResourcePolicy: entry.CustomResourcePolicy, Managed: entry.Managed, AllowCRDChanges: entry.AllowCRDChanges,
		Values: values,
	}
}

// normal returns a copy of a seen spec in which equivalent entries are spelled the same. The order of modules stays.
func normal(seen v1beta2.SeenSpec) v1beta2.SeenSpec {
	is := v1beta2.SeenSpec{Channel: cmp.Or(seen.Channel, v1beta2.DefaultChannel), SkipMaintenanceWindows: seen.SkipMaintenanceWindows}
	known := make(map[string]struct{}, len(seen.Modules))
	for i := range seen.Modules {
		if _, again := known[seen.Modules[i].Name]; again {
			continue
		}
		known[seen.Modules[i].Name] = struct{}{}
		is.Modules = append(is.Modules, normalModule(seen.Modules[i]))
	}
	return is
}

func normalModule(entry v1beta2.SeenModule) v1beta2.SeenModule {
	is := *entry.DeepCopy()
	is.CustomResourcePolicy = cmp.Or(is.CustomResourcePolicy, v1beta2.CustomResourcePolicyCreateAndDelete)
	if is.Managed != nil && *is.Managed {
		is.Managed = nil
	}
	slices.Sort(is.AllowCRDChanges)
	is.AllowCRDChanges = slices.Compact(is.AllowCRDChanges)
	if len(is.AllowCRDChanges) == 0 {
		is.AllowCRDChanges = nil
	}
	return is
}

// sorted returns the seen spec with its modules by name.
func sorted(seen v1beta2.SeenSpec) v1beta2.SeenSpec {
	seen.Modules = slices.Clone(seen.Modules)
	slices.SortFunc(seen.Modules, func(a, b v1beta2.SeenModule) int { return cmp.Compare(a.Name, b.Name) })
	return seen
}

// byName returns the entries by module.
func byName(modules []v1beta2.SeenModule) map[string]*v1beta2.SeenModule {
	entries := make(map[string]*v1beta2.SeenModule, len(modules))
	for i := range modules {
		entries[modules[i].Name] = &modules[i]
	}
	return entries
}

// sameModule compares two normalised entries; nil stands for an absent one.
func sameModule(a, b *v1beta2.SeenModule) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && a.ControllerName == b.ControllerName && a.Channel == b.Channel && a.Version == b.Version &&
		a.CustomResourcePolicy == b.CustomResourcePolicy && (a.Managed == nil) == (b.Managed == nil) &&
		slices.Equal(a.AllowCRDChanges, b.AllowCRDChanges) && a.Values == b.Values
}

// sameSeen compares two normalised specs, whatever their order.
func sameSeen(a, b v1beta2.SeenSpec) bool {
	return a.Channel == b.Channel && a.SkipMaintenanceWindows == b.SkipMaintenanceWindows &&
		slices.EqualFunc(sorted(a).Modules, sorted(b).Modules, func(x, y v1beta2.SeenModule) bool { return sameModule(&x, &y) })
}
