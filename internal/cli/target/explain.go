package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// ErrNoCluster reports that no kubeconfig names a cluster.
var ErrNoCluster = errors.New("no kubeconfig names a cluster")

// usualServer is the server that clientcmd falls back to then.
const usualServer = "http://localhost:8080"

// sayWhich is the hint if no cluster is found.
const sayWhich = "set KUBECONFIG, or use --kubeconfig and --context"

// unusable returns the error for a kubeconfig that leads to no cluster: the file or the context is missing, or something else is wrong.
func (t *Target) unusable(err error) error {
	if file, is := errors.AsType[*fs.PathError](err); is && slices.Contains(t.files(), file.Path) { // else it is a file that one names
		return unreadable(file.Path, file.Err)
	}
	if raw, unread := t.flags.ToRawKubeConfigLoader().RawConfig(); unread == nil {
		if name := t.context(&raw); name != "" && raw.Contexts[name] == nil {
			return console.NotFound("the kubeconfig has no context %q", name).
				Known("contexts", nil, slices.Collect(maps.Keys(raw.Contexts)))
		}
	}
	return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("the kubeconfig cannot be used: %w", err)}).With(sayWhich)
}

// files returns the kubeconfig files that are read.
func (t *Target) files() []string {
	if t.flags.KubeConfig != nil && *t.flags.KubeConfig != "" {
		return []string{*t.flags.KubeConfig}
	}
	return clientcmd.NewDefaultClientConfigLoadingRules().Precedence
}

// maxKubeconfig is the maximum size of a kubeconfig, far above that of one with thousands of clusters.
const maxKubeconfig = 64 << 20

// checkFiles refuses kubeconfigs that would exhaust the memory, since clientcmd reads files without a bound.
func (t *Target) checkFiles() error {
	for _, file := range t.files() {
		info, err := os.Stat(file)
		switch {
		case err != nil || file == os.DevNull: // clientcmd handles these
		case info.Mode()&fs.ModeDevice != 0:
			return unreadable(file, errors.New("it is a device"))
		case info.Size() > maxKubeconfig:
			return unreadable(file, fmt.Errorf("it has more than %d MiB", maxKubeconfig>>20))
		}
	}
	return nil
}

func unreadable(file string, why error) error {
	return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("cannot read kubeconfig %s: %w", file, why)}).With(sayWhich)
}

// nowhere returns an error if nothing names a cluster. clientcmd treats a missing file of KUBECONFIG as an empty one, and calls a server
// that was never requested.
func (t *Target) nowhere(config *rest.Config) error {
	if config.Host != usualServer || t.flags.APIServer != nil && *t.flags.APIServer != "" {
		return nil
	}
	raw, err := t.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil || !clientcmdapi.IsConfigEmpty(&raw) {
		return err
	}
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		for _, file := range t.files() {
			if _, err := os.Stat(file); err != nil && file != "" {
				return unreadable(file, noClusterError{err})
			}
		}
	}
	return console.NotFound("%w", ErrNoCluster).With(sayWhich)
}

// noClusterError is the reason why a file could not be read, and an ErrNoCluster too.
type noClusterError struct{ error }

// Error returns the reason without the file, which the message already names.
func (e noClusterError) Error() string {
	if file, is := errors.AsType[*fs.PathError](e.error); is {
		return file.Err.Error()
	}
	return e.error.Error()
}

// Is reports whether it is an ErrNoCluster.
func (e noClusterError) Is(err error) bool { return err == ErrNoCluster }

// Unwrap returns the reason.
func (e noClusterError) Unwrap() error { return e.error }

// context returns the name of the selected context.
func (t *Target) context(raw *clientcmdapi.Config) string {
	if t.flags.Context != nil && *t.flags.Context != "" {
		return *t.flags.Context
	}
	return raw.CurrentContext
}

// Explain returns the error of a command with a text of its own and a hint if the cluster did not accept the credentials ("Unauthorized"
// names neither cluster nor user), could not be reached, or forbids the request.
func (t *Target) Explain(err error) error {
	if failure, is := errors.AsType[*console.Failure](err); err == nil || is && failure.Hint != "" {
		return err
	}
	explained := &console.Failure{Code: console.Code(err), Err: err}
	switch {
	case t.rejected.Load() && (apierrors.IsUnauthorized(err) || strings.HasSuffix(err.Error(), "Unauthorized")):
		explained.Err = fmt.Errorf("the cluster rejected your credentials%s", t.user())
		return explained.With("log in to the cluster again, or name another context by --context")
	case t.unreached(err) != nil:
		explained.Err = fmt.Errorf("the cluster at %s cannot be reached: %w", t.config.Host, t.unreached(err))
		return explained.With("check that it runs and that this machine can reach it, or name another context by --context")
	case apierrors.IsForbidden(err):
		return explained.With("ask an administrator of the cluster for this right; kubectl auth can-i --list shows those that you have")
	}
	return err
}

// unreached returns why a request to the cluster got no answer; nil for another error, or that of another server.
func (t *Target) unreached(err error) error {
	failure, is := errors.AsType[*url.Error](err)
	if !is || t.config == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	host := t.config.Host
	if _, after, is := strings.Cut(host, "://"); is {
		host = after
	}
	if !strings.Contains(failure.URL, "://"+strings.TrimRight(host, "/")+"/") {
		return nil
	}
	return failure.Err
}

// UserName returns the name of the user in the kubeconfig; empty if there is none.
func (t *Target) UserName() string {
	if t.flags.AuthInfoName != nil && *t.flags.AuthInfoName != "" {
		return *t.flags.AuthInfoName
	}
	if raw, err := t.flags.ToRawKubeConfigLoader().RawConfig(); err == nil && !t.given {
		if found := raw.Contexts[t.context(&raw)]; found != nil {
			return found.AuthInfo
		}
	}
	return ""
}

// user returns the name of the user in the kubeconfig, in brackets; empty if there is none.
func (t *Target) user() string {
	if name := t.UserName(); name != "" {
		return " (user " + name + ")"
	}
	return ""
}

// Where names the cluster for users: its address, and the context that leads there.
func (t *Target) Where() (string, error) {
	config, err := t.Config()
	if err != nil {
		return "", err
	}
	if raw, err := t.flags.ToRawKubeConfigLoader().RawConfig(); err == nil && !t.given {
		if name := t.context(&raw); name != "" {
			return fmt.Sprintf("%s (context %s)", config.Host, name), nil
		}
	}
	return config.Host, nil
}

// CheckNamespace returns an error if --namespace names a namespace that does not exist: an empty result there would be misleading. If
// that cannot be determined, it returns nil.
func (t *Target) CheckNamespace(ctx context.Context, reader client.Reader) error {
	namespace, explicit, err := t.Namespace()
	if err != nil || !explicit {
		return err
	}
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}); apierrors.IsNotFound(err) {
		return console.NotFound("there is no namespace %s", namespace).With("kubectl get namespaces lists them")
	}
	return nil
}
