package clustercache

import (
	"fmt"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// parseKubeconfig reads a kubeconfig as hostile input, and maps a refusal to a Problem.
func parseKubeconfig(data []byte) (*rest.Config, *runtimes.Problem) {
	cfg, refused := kubeconfig.Parse(data)
	if refused != nil {
		return nil, &runtimes.Problem{Reason: refused.Reason, Message: refused.Message}
	}
	return cfg, nil
}

func unprintable(r rune) bool { return r <= ' ' || r >= 0x7f }

func invalidKubeconfig(format string, args ...any) *runtimes.Problem {
	return &runtimes.Problem{
		Reason: v1beta2.ReasonKubeconfigInvalid, Message: "the kubeconfig cannot be used: " + fmt.Sprintf(format, args...),
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
