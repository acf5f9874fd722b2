package editcmd

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// connecting is one call of `kyma kyma connect`.
type connecting struct {
	*change
	runtime, runtimeContext string
	check                   bool
}

func connect(c *change) *cobra.Command {
	k := &connecting{change: c}
	command := &cobra.Command{
		Use:   "connect NAME --runtime KUBECONFIG",
		Short: "Give a Kyma access to its cluster",
		Long: "Stores a kubeconfig as the access Secret of a Kyma. It is checked first: files that it names are put into it, programs are\n" +
			"refused since the lifecycle manager runs none, and the cluster must respond and differ from this one.",
		Example: "  kyma kyma connect demo --runtime runtime.yaml\n" +
			"  kyma kyma connect kcp-system/demo --runtime ~/.kube/config --runtime-context prod\n" +
			"  kyma kyma connect demo --runtime - < runtime.yaml",
		Args: names(1, 1, "NAME"),
		RunE: func(command *cobra.Command, args []string) error { return k.run(command.Context(), args[0]) },
	}
	flags := command.Flags()
	flags.StringVar(&k.runtime, "runtime", "", "file with the kubeconfig of the Kyma's cluster; - reads standard input")
	flags.StringVar(&k.runtimeContext, "runtime-context", "", "context in it (default: its current one)")
	flags.BoolVar(&k.check, "check", true, "call the cluster before anything is stored")
	c.dryRunFlag(flags)
	c.outputFlag(flags)
	_ = command.MarkFlagRequired("runtime")
	return command
}

func (k *connecting) run(ctx context.Context, name string) error {
	k.timeout = time.Minute
	if err := k.checked(); err != nil {
		return err
	}
	key, err := k.key(name)
	if err != nil {
		return err
	}
	kubeconfig, config, err := k.kubeconfig(ctx)
	if err != nil {
		return err
	}
	cluster, err := k.target.Client()
	if err != nil {
		return err
	}
	if k.check {
		if err := k.reach(ctx, cluster, config); err != nil {
			return err
		}
	}
	action, err := k.store(ctx, cluster, key, kubeconfig)
	if err != nil {
		return err
	}
	i := item{Name: "kyma/" + key.String(), Kyma: key.String(), Action: action}
	if k.dry() {
		i.DryRun = k.dryRun
	}
	return k.print([]item{i})
}

// key returns the key of the named Kyma; it need not exist yet.
func (c *change) key(name string) (client.ObjectKey, error) {
	namespace, explicit, err := c.target.Namespace()
	if before, after, cut := strings.Cut(name, "/"); cut {
		namespace, name = before, after
	} else if !explicit {
		namespace = v1beta2.DefaultNamespace
	}
	return client.ObjectKey{Namespace: namespace, Name: name}, err
}

// kubeconfig reads the file, reduced to the selected context, with the files that it names put inline.
func (k *connecting) kubeconfig(ctx context.Context) ([]byte, *rest.Config, error) {
	data, err := readFile(ctx, k.console.In, k.runtime)
	if err != nil {
		return nil, nil, err
	}
	file, err := clientcmd.Load(data)
	if err != nil { // the parser's error repeats its input, which may be a token
		return nil, nil, console.Usage("%s is no kubeconfig", k.runtime)
	}
	if k.runtime != "-" {
		for _, cluster := range file.Clusters {
			cluster.LocationOfOrigin = k.runtime
		}
		for _, user := range file.AuthInfos {
			user.LocationOfOrigin = k.runtime
		}
	}
	if k.runtimeContext != "" {
		file.CurrentContext = k.runtimeContext
	}
	if err := clientcmdapi.MinifyConfig(file); err != nil {
		return nil, nil, console.Usage("%s: %w", k.runtime, err).With("--runtime-context names one of its contexts")
	}
	if err := inline(ctx, file); err != nil {
		return nil, nil, console.Usage("%s: %w", k.runtime, err)
	}
	kubeconfig, err := clientcmd.Write(*file)
	if err != nil {
		return nil, nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	return kubeconfig, config, err
}

// inline puts files into a kubeconfig, and refuses fields that the lifecycle manager does not accept.
func inline(ctx context.Context, file *clientcmdapi.Config) error {
	for name, user := range file.AuthInfos {
		switch {
		case user.Exec != nil || user.AuthProvider != nil:
			return fmt.Errorf("user %q runs a program to log in, which the lifecycle manager does not: use a token or a client certificate", name)
		case user.Impersonate != "":
			return fmt.Errorf("user %q impersonates another user, which is not accepted", name)
		case user.TokenFile != "":
			token, err := userfile.Read(ctx, user.TokenFile)
			if err != nil {
				return err
			}
			user.Token, user.TokenFile = string(bytes.TrimSpace(token)), ""
		}
	}
	for name, cluster := range file.Clusters {
		switch {
		case cluster.ProxyURL != "":
			return fmt.Errorf("cluster %q asks for a proxy, which is not accepted", name)
		case !strings.HasPrefix(cluster.Server, "https://"):
			return fmt.Errorf("cluster %q has no https address", name)
		}
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return err
	}
	return clientcmdapi.FlattenConfig(file)
}

// reach calls the cluster, and refuses it if the Kyma itself is in it.
func (k *connecting) reach(ctx context.Context, hub client.Client, config *rest.Config) error {
	there, err := runtimeaccess.Identify(ctx, config)
	if err != nil {
		return (&console.Failure{
			Code: console.CodeError, Err: fmt.Errorf("the cluster of %s at %s cannot be accessed: %w", k.runtime, config.Host, err),
		}).With("--check=false stores the kubeconfig anyway")
	}
	var own corev1.Namespace
	err = hub.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &own)
	if err == nil && own.UID == there {
		return console.Usage("%s leads to the Kyma's own cluster", k.runtime).
			With("a Kyma for that is made by kyma kyma create --local")
	}
	return nil
}

// store writes the access Secret.
func (k *connecting) store(ctx context.Context, cluster client.Client, key client.ObjectKey, kubeconfig []byte) (kymaedit.Action, error) {
	stored, err := runtimeaccess.Store(ctx, cluster, key, kubeconfig, runtimeaccess.Writing{
		Manager: kymaedit.FieldManager, DryRun: k.dry(), Nothing: kymaedit.DryRun(k.dryRun) == kymaedit.DryRunClient,
	})
	switch {
	case apierrors.IsNotFound(err):
		return "", console.NotFound("there is no namespace %s", key.Namespace)
	case err != nil:
		return "", err
	case !stored.Changed:
		return kymaedit.Unchanged, nil
	}
	return "connected", nil
}

func disconnect(c *change) *cobra.Command {
	command := &cobra.Command{
		Use:   "disconnect NAME",
		Short: "Take away a Kyma's access to its cluster",
		Long: "Deletes the access Secret of a Kyma. What runs in its cluster stays there, without upgrades and repairs; a Kyma that is\n" +
			"deleted then leaves all of it behind.",
		Example: "  kyma kyma disconnect demo\n  kyma kyma disconnect kcp-system/demo --yes",
		Args:    names(1, 1, "NAME"),
		RunE:    func(command *cobra.Command, args []string) error { return c.disconnect(command.Context(), args[0]) },
	}
	c.dryRunFlag(command.Flags())
	c.outputFlag(command.Flags())
	return command
}

func (c *change) disconnect(ctx context.Context, name string) error {
	c.timeout = time.Minute
	if err := c.checked(); err != nil {
		return err
	}
	key, err := c.key(name)
	if err != nil {
		return err
	}
	cluster, err := c.target.Client()
	if err != nil {
		return err
	}
	secrets, err := runtimeaccess.Secrets(ctx, cluster, key)
	if err != nil {
		return err
	}
	i := item{Name: "kyma/" + key.String(), Kyma: key.String(), Action: kymaedit.Unchanged}
	if len(secrets) > 0 {
		i.Action = "disconnected"
		question := fmt.Sprintf("Take away the access of Kyma %s? What runs in its cluster stays.", key)
		if c.dry() {
			i.DryRun = c.dryRun
		} else if err := c.console.Confirm(ctx, fmt.Sprintf("taking away the access of Kyma %s", key), question); err != nil {
			return err
		}
	}
	for j := range secrets {
		options := []client.DeleteOption{client.Preconditions{UID: &secrets[j].UID}}
		if kymaedit.DryRun(c.dryRun) == kymaedit.DryRunClient {
			break
		}
		if c.dry() {
			options = append(options, client.DryRunAll)
		}
		if err := cluster.Delete(ctx, &secrets[j], options...); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return c.print([]item{i})
}
