// Package hubsettings answers one question: with which settings does the lifecycle manager of a hub decide, as far as this user may read
// them?
//
// Clients that foretell decisions need what only the manager's flags and files say: where it reads components, which modules are
// restricted, when maintenance windows open, which versions need consent. They are read from the manager's Deployment and its ConfigMaps,
// as the user; a manager outside of the cluster has none. What could not be read is said, and never taken for absent.
//
// Non-goals: it reads no Secret, changes nothing, and decides nothing.
package hubsettings
