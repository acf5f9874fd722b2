// Package waitfor answers one question: was a requested change of a Kyma carried out, and if not, why not?
//
// It watches the Kyma and its Manifests and reports every change as a line. Ready means that the status covers the requested generation and
// that the requested version runs. A refusal that only users can lift ends the wait at once; Wait waits for problems that may pass by
// themselves.
//
// Non-goals: it writes nothing, it does not poll, and it is independent of terminals and exit codes.
package waitfor
