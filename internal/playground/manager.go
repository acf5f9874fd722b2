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
	"github.com/kyma-project/lifecycle-manager/internal/provision"
)

const (
	managerProgram = "manager"
	managerLog     = "manager.log"
	managerAccount = "klm-controller-manager"
	// managerPatience is how long reconciles may go on after the end was asked for.
	managerPatience = 8 * time.Second
	// portAttempts is how often other ports are tried when somebody else took one between our look and the manager's.
	portAttempts = 3
	portTaken    = "address already in use"
	// registriesFile says which hosts speak no TLS.
	registriesFile = "registries.yaml"
)

// manager is the process of the manager.
type manager struct {
	*process
	metrics, probes, content, webhooks string // addresses
}

// startManager runs the manager's own program with the rights that a deployed one has.
func (p *playground) startManager(ctx context.Context) error {
	return p.progress.step("manager", "starting bin/manager as ServiceAccount "+managerAccount, func() (string, error) {
		dir, err := p.folder.part(managerProgram)
		if err != nil {
			return "", err
		}
		access, err := p.hub.ServiceAccountConfig(ctx, v1beta2.DefaultNamespace, managerAccount)
		if err != nil {
			return "", err
		}
		if err := p.writeRegistries(filepath.Join(dir, registriesFile)); err != nil {
			return "", err
		}
		kubeconfig := filepath.Join(dir, "kubeconfig")
		if err := writeKubeconfig(kubeconfig, hubName, access); err != nil {
			return "", err
		}
		for n := 1; ; n++ {
			err := p.launchManager(ctx, dir, kubeconfig)
			if err == nil {
				return fmt.Sprintf("is ready as process %d", p.manager.cmd.Process.Pid), nil
			}
			if n == portAttempts || !strings.Contains(err.Error(), portTaken) {
				return "", err
			}
		}
	})
}

// launchManager starts it once and waits until it is ready.
func (p *playground) launchManager(ctx context.Context, dir, kubeconfig string) error {
	free, err := freeAddresses(ctx, 4)
	if err != nil {
		return err
	}
	metrics, probes, content, webhooks := free[0], free[1], free[2], free[3]
	started, err := p.launcher.start(p.program(managerProgram), filepath.Join(dir, managerLog), []string{"KUBECONFIG=" + kubeconfig},
		"--oci-registry-host=http://"+p.registry.Host,
		"--kyma-namespace=*",
		"--metrics-bind-address="+metrics,
		"--health-probe-bind-address="+probes,
		"--content-dir="+filepath.Join(dir, "content"),
		"--content-bind-address="+content,
		"--content-url=https://"+content,
		"--enable-webhooks",
		"--webhook-bind-address="+webhooks,
		"--webhook-url=https://"+webhooks,
		"--registries-file="+filepath.Join(dir, registriesFile),
	)
	if err != nil {
		return err
	}
	p.manager = &manager{process: started, metrics: metrics, probes: probes, content: content, webhooks: webhooks}
	return p.manager.awaitReady(ctx)
}

// awaitReady waits until the manager has listed what it watches.
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

// ask returns nil when the address answers with 200.
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

// freeAddresses finds addresses on loopback that nobody listens on.
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
	for _, listener := range open { // only now, so that each is another one
		err = errors.Join(err, listener.Close())
	}
	return found, err
}

// writeRegistries writes what the manager is told about the hosts of the playground. The file is watched: an edit counts at once.
func (p *playground) writeRegistries(path string) error {
	text := fmt.Sprintf(`# How the manager talks to registries and other hosts; it notices a change of this file.
registries:
- host: %s
  plainHTTP: true
- host: %s
  plainHTTP: true
`, p.registry.Host, p.web.host)
	return os.WriteFile(path, []byte(text), 0o600)
}

func writeKubeconfig(path, name string, access *rest.Config) error {
	data, err := provision.KubeconfigOf(name, access)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
