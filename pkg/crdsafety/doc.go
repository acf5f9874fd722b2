// Package crdsafety decides whether a CustomResourceDefinition can be changed without breaking existing objects and the clients that read
// and write them.
//
// [Compare] compares two definitions and returns everything that can break, each with a rule. It fails closed: a change that no rule covers
// is an [UnknownChange]. Conversely, a change without findings accepts every object that the old definition accepted (a fuzz test checks
// this against the API server's own validation), so the objects need not be checked then. Where there are findings, the existing objects
// decide further: a [Validator] finds those that do not fit a new definition, and adds to the findings; an [Evidence] clears the findings
// that break none of them, provided that all of them are known. [Refuse] drops the rules that are allowed by name; the names are API, see
// [Rules]. [Message] describes the rest.
//
// The following are free: descriptions, titles, examples, printer columns, categories, deprecation notes, the address of a conversion
// webhook, everything that is added as optional, and every bound that is widened.
//
// The package is pure: it calls no API server. It judges definitions, never whether an upgrade as a whole is wise. It does not check that a
// definition is valid; the API server does that on apply. Findings quote definitions, but never a value of an object.
package crdsafety
