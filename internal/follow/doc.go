// Package follow answers one question: did what somebody asked of a Kyma come about, and if not, why not?
//
// It watches the Kyma and its Manifests and tells every change of a line as it comes. Ready means that the generation which was asked for
// was observed, in the version which was asked for. A refusal that only people can lift ends the waiting at once; trouble that may pass by
// itself is waited for.
//
// What it refuses to do: it writes nothing, it does not poll, and it knows neither terminals nor exit codes.
package follow
