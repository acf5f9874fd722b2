// Package modulereleasemeta reconciles the ModuleReleaseMetas of mandatory modules: it delays their deletion.
//
// A finalizer holds the release until no Manifest of the module is left. Kymas install mandatory modules and remove them themselves; here
// they are removed too where the Kyma does not do it, because it is not reconciled.
//
// Non-goals: it does not install anything, and never releases a ModuleReleaseMeta by the state of a cache alone.
package modulereleasemeta
