//go:build unix

package playground

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	managerProgram = "manager"
	managerLog     = "manager.log"
	managerAccount = "klm-controller-manager"
	// managerPatience is how long reconciles may continue after a request to end.
	managerPatience = 25 * time.Second
	// portAttempts is how often other ports are tried when another program takes one between our check and the manager's start.
	portAttempts = 3
	portTaken    = "address already in use"
	// registriesFile lists the hosts without TLS.
	registriesFile = "registries.yaml"
)

// manager is the process of the manager.
type manager struct {
	*process
	metrics, probes, content, webhooks string // addresses
}

// ManagerOptions configure the run of a manager.
type ManagerOptions struct {
	// Program is the manager's own program, Dir the folder for its log, its content and its files.
	Program, Dir string
	// Cluster names the hub in the kubeconfig; Access is that of the manager's ServiceAccount there.
	Cluster string
	Access  *rest.Config
	// Registry is the host of the modules' registry; it and PlainHosts are used without TLS.
	Registry   string
	PlainHosts []string
	// Signatures is the file with the policy on signatures; empty for none.
	Signatures string
	// Serves adds the content server and the conversion of v1alpha1.
	Serves bool
}

// ManagerAccess returns the access of the manager's ServiceAccount, with the permissions of a deployed manager.
func ManagerAccess(ctx context.Context, hub *localcluster.ControlPlane) (*rest.Config, error) {
	return hub.ServiceAccountConfig(ctx, v1beta2.DefaultNamespace, managerAccount)
}

// startManager runs the manager's own program with the permissions of a deployed one.
func (p *playground) startManager(ctx context.Context) error {
	return p.progress.step("manager", "starting bin/manager as ServiceAccount "+managerAccount, func() (string, error) {
		dir, err := p.folder.part(managerProgram)
		if err != nil {
			return "", err
		}
		access, err := ManagerAccess(ctx, p.hub.ControlPlane)
		if err != nil {
			return "", err
		}
		err = p.crew.StartManager(ctx, ManagerOptions{
			Program: p.program(managerProgram), Dir: dir, Cluster: hubName, Access: access,
			Registry: p.registry.Host, PlainHosts: []string{p.web.host}, Serves: true,
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("is ready as process %d", p.crew.manager.cmd.Process.Pid), nil
	})
}

// StartManager starts the manager and returns when it is ready. Other ports are tried when another program takes one at the same time.
func (c *ProcessGroup) StartManager(ctx context.Context, o ManagerOptions) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	if err := writeRegistries(filepath.Join(o.Dir, registriesFile), append([]string{o.Registry}, o.PlainHosts...)); err != nil {
		return err
	}
	kubeconfig := filepath.Join(o.Dir, "kubeconfig")
	if err := writeKubeconfig(kubeconfig, o.Cluster, o.Access); err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := c.launchManager(ctx, o, kubeconfig)
		if err == nil || n == portAttempts || !strings.Contains(err.Error(), portTaken) {
			return err
		}
	}
}

// launchManager starts the manager once and waits until it is ready.
func (c *ProcessGroup) launchManager(ctx context.Context, o ManagerOptions, kubeconfig string) error {
	free, err := freeAddresses(ctx, 4)
	if err != nil {
		return err
	}
	m := &manager{metrics: free[0], probes: free[1], content: free[2], webhooks: free[3]}
	m.process, err = c.launcher.start(o.Program, filepath.Join(o.Dir, managerLog), []string{"KUBECONFIG=" + kubeconfig}, m.flags(o)...)
	if err != nil {
		return err
	}
	c.manager = m
	if err := m.awaitReady(ctx); err != nil {
		c.manager = nil
		return errors.Join(err, m.end(managerPatience))
	}
	return nil
}

func (m *manager) flags(o ManagerOptions) []string {
	flags := []string{
		"--oci-registry-host=http://" + o.Registry,
		"--kyma-namespace=*",
		"--leader-elect", // as in a deployment; its heartbeat shows that it runs
		"--metrics-bind-address=" + m.metrics,
		"--health-probe-bind-address=" + m.probes,
		"--content-dir=" + filepath.Join(o.Dir, "content"),
		"--registries-file=" + filepath.Join(o.Dir, registriesFile),
	}
	if o.Signatures != "" {
		flags = append(flags, "--signatures-file="+o.Signatures)
	}
	if o.Serves {
		flags = append(flags,
			"--content-bind-address="+m.content,
			"--content-url=https://"+m.content,
			"--enable-webhooks",
			"--webhook-bind-address="+m.webhooks,
			"--webhook-url=https://"+m.webhooks)
	}
	return flags
}

// awaitReady waits until the manager has listed the objects that it watches.
func (m *manager) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		answer := ask(ctx, "http://"+m.probes+"/readyz")
		if answer == nil {
			return nil
		}
		select {
		case <-m.done:
			return m.failure()
		case <-ctx.Done():
			return fmt.Errorf("it did not become ready within %s: %w\nits log is %s and ends with:\n%s", patience, answer, short(m.log), tail(m.log))
		case <-ticker.C:
		}
	}
}

// ask returns nil when the address responds with 200.
func ask(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

// freeAddresses returns unused addresses on loopback.
func freeAddresses(ctx context.Context, count int) (found []string, err error) {
	var config net.ListenConfig
	var open []net.Listener
	for range count {
		listener, e := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if e != nil {
			err = fmt.Errorf("no free port on loopback: %w", e)
			break
		}
		open, found = append(open, listener), append(found, listener.Addr().String())
	}
	for _, listener := range open { // only now, so that all of them differ
		err = errors.Join(err, listener.Close())
	}
	return found, err
}

// writeRegistries writes the manager's settings for hosts without TLS. The manager watches the file: an edit takes effect at once.
func writeRegistries(path string, hosts []string) error {
	var text strings.Builder
	text.WriteString("# How the manager talks to registries and other hosts; it notices a change of this file.\nregistries:\n")
	for _, host := range hosts {
		fmt.Fprintf(&text, "- host: %s\n  plainHTTP: true\n", host)
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

func writeKubeconfig(path, name string, access *rest.Config) error {
	data, err := localcluster.KubeconfigOf(name, access)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
