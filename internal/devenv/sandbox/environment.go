package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Environment returns the environment for a shell, as lines that it can read.
func (s *Sandbox) Environment() string {
	var out strings.Builder
	export := func(name, value string) { fmt.Fprintf(&out, "export %s=%s\n", name, quote(value)) }
	fmt.Fprintf(&out, "# The clusters and the registry of sandbox %s: source this file, or eval \"$(kyma provision env %[1]s)\".\n", s.Name)
	export("KYMA_SANDBOX", s.Name)
	export("KUBECONFIG", s.Kubeconfig)
	export("HUB_KUBECONFIG", s.Hub.Kubeconfig)
	for _, runtime := range s.Runtimes {
		export(strings.ToUpper(strings.ReplaceAll(runtime.Name, "-", "_"))+"_KUBECONFIG", runtime.Kubeconfig)
	}
	export("REGISTRY", s.Registry.URL)
	// The cache of kubectl is deleted with the sandbox: another cluster may get the same port.
	export("KUBECACHEDIR", filepath.Join(s.Dir, "kubectl-cache"))
	fmt.Fprintf(&out, "export PATH=%s:\"$PATH\"\n", quote(filepath.Join(s.Dir, "bin")))
	return out.String()
}

// quote quotes a value as one word for a shell.
func quote(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }
