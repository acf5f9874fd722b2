// Package takeover finds out what would be different, or be refused, if this manager took over a hub from upstream's manager.
//
// Judge takes what was read of the hub and returns findings, each with a count and the first places. It depends only on upstream's names
// and defaults. Objects that could not be read are a finding of their own, and do not count as absent.
//
// Non-goals: it reads no cluster and changes nothing, and it does not check the runtimes or the registry.
package takeover
