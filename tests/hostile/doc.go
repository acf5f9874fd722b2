// Package hostile answers: what can a runtime, a registry or a kubeconfig do to the hub that means harm?
//
// Every spec is one attack against the real manager on a real hub: a server that looks like a runtime or a registry and then does not
// behave. While it lasts, the memory of the whole process is sampled, another Kyma gets a module on a healthy runtime, and what belongs to
// others must not change. Secrets that appear nowhere else are put everywhere they belong, and are looked for everywhere they do not.
//
// It refuses to test whether modules are installed correctly, and to reach anything but loopback. docs/security.md says which threat each
// attack stands for.
package hostile
