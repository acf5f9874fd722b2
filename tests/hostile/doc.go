// Package hostile tests what a malicious runtime, registry or kubeconfig can do to the hub.
//
// Every spec is one attack against the real manager on a real hub: a server that looks like a runtime or a registry and then misbehaves.
// During the attack, the memory of the whole process is sampled, another Kyma gets a module on a healthy runtime, and objects of others
// must not change. Unique secrets are put everywhere they belong, and searched for everywhere they do not.
//
// It does not test whether modules are installed correctly, and reaches nothing but loopback. docs/security.md lists the threat behind each
// attack.
package hostile
