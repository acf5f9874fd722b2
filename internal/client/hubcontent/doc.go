// Package hubcontent answers one question: how does what a hub holds get to another hub, or back, without harm to any runtime?
//
// Export reads it and removes what belongs to the cluster alone, Files, Encode and Decode turn it into YAML and back, and Import compares
// it with what a hub has and brings it there: suspended, in the order of the waves, then with its status, and active only when everything
// is in. An import that was interrupted is continued by the next one.
//
// Non-goals: definitions, roles and the manager itself, which its installation brings; anything in a runtime. It overwrites nothing that
// differs unless it is asked to, and no message contains what a Secret holds.
package hubcontent
