// Package waitfor answers one question: was a requested change of a Kyma carried out, and if not, why not?
//
// It watches the Kyma and its Manifests and tells every change of a line as it comes. Ready means that the generation which was requested
// was observed, in the version which was requested. A refusal that only users can lift ends the waiting at once; trouble that may pass by
// itself is waited for.
//
// What it refuses to do: it writes nothing, it does not poll, and it knows neither terminals nor exit codes.
package waitfor
