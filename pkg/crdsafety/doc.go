// Package crdsafety answers whether a CustomResourceDefinition can be changed without breaking the objects that exist and the clients
// that read and write them.
//
// [Compare] sets two definitions side by side and names everything that can break, each with a rule. It fails closed: what no rule
// knows is an [UnknownChange]. The other way round, a change without findings accepts every object that the old definition accepted
// (a fuzz test holds this against the API server's own validation), so nobody has to look at the objects then. A [Validator] says which
// of the objects that exist do not fit a new definition; it adds to the findings and never clears one, because objects come and go and
// a rule speaks of all of them. [Refuse] drops the rules that somebody has allowed by name; the names are API, see [Rules].
//
// Free are: descriptions, titles, examples, printer columns, categories, deprecation notes, the address of a conversion webhook,
// everything that is added as optional, and every bound that is widened.
//
// The package is pure: it asks no API server, and it judges definitions, never whether an upgrade as a whole is wise. It does not check
// that a definition is valid, the API server does that when it is applied. Findings quote definitions, but never a value of an object.
package crdsafety
