// Package crdsafety answers whether a CustomResourceDefinition can be changed without breaking the objects that exist and the clients
// that read and write them.
//
// [Compare] sets two definitions side by side and names everything that can break, each with a rule. It fails closed: what no rule
// knows is an [UnknownChange]. The other way round, a change without findings accepts every object that the old definition accepted
// (a fuzz test holds this against the API server's own validation), so the objects need not be looked at then. Where there are findings,
// the objects that exist decide further: a [Validator] says which of them do not fit a new definition, and adds to the findings; an
// [Evidence] clears the findings that break none of them, provided that all of them are known. [Refuse] drops the rules that are allowed
// by name; the names are API, see [Rules]. [Message] tells what is left.
//
// Free are: descriptions, titles, examples, printer columns, categories, deprecation notes, the address of a conversion webhook,
// everything that is added as optional, and every bound that is widened.
//
// The package is pure: it asks no API server, and it judges definitions, never whether an upgrade as a whole is wise. It does not check
// that a definition is valid, the API server does that when it is applied. Findings quote definitions, but never a value of an object.
package crdsafety
