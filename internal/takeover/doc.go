// Package takeover answers one question: what would be different, or be refused, if this manager took over a hub of upstream's manager?
//
// Judge gets what was read of the hub and gives findings, each with a count and the first places. It knows upstream by its names and
// defaults alone. What could not be read is a finding of its own: nothing counts as absent for it.
//
// What it refuses to do: it reads no cluster and changes nothing, and it says nothing of what lies in the runtimes or in the registry.
package takeover
