// Package release answers: may the ModuleReleaseMeta of a mandatory module go, and what has to go before?
//
// It holds the release by a finalizer until no Manifest of the module is left. Kymas install mandatory modules and remove them
// themselves; here they are removed too where no Kyma does it, because it is left alone.
//
// It refuses to install anything, and to let a release go by what a cache says.
package release
