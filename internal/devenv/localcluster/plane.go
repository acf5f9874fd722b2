//go:build unix

package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	programEtcd      = "etcd"
	programAPIServer = "kube-apiserver"
	// attempts is how often the pair of etcd and API server is tried: a free port can be taken before it is bound.
	attempts = 3
	// pollInterval is short, because the poll is local and a user waits for the start.
	pollInterval = 50 * time.Millisecond
	// tailBytes of a program's log are added to the error when it does not start.
	tailBytes = 1500
	// etcdIsGone is in the lines that fill an API server's log while it outlives its etcd: when one of them does not start, envtest ends etcd
	// first.
	etcdIsGone = "addrConn.createTransport failed to connect"
)

// startPlane starts etcd and the API server.
func (cp *ControlPlane) startPlane(ctx context.Context) error {
	for n := 1; ; n++ {
		plane, err := cp.newPlane(n)
		if err != nil {
			return err
		}
		if err = cp.keeper.do(plane.Start); err == nil {
			cp.plane = plane
			return nil
		}
		cp.scratch.kill()
		if n == attempts || ctx.Err() != nil {
			return fmt.Errorf("%w%s%s", err, cp.tail(programEtcd), cp.tail(programAPIServer))
		}
	}
}

// newPlane configures etcd and the API server. Each attempt gets its own folders, as a failed one leaves data behind.
func (cp *ControlPlane) newPlane(attempt int) (*envtest.ControlPlane, error) {
	data, err := cp.scratch.folder(fmt.Sprintf("etcd-%d", attempt))
	if err != nil {
		return nil, err
	}
	certs, err := cp.scratch.folder(fmt.Sprintf("pki-%d", attempt))
	if err != nil {
		return nil, err
	}
	etcd := &envtest.Etcd{DataDir: data, StartTimeout: startTimeout, StopTimeout: stopTimeout}
	etcd.Configure().
		Set("unsafe-no-fsync", "true").
		// The default of 2 GiB fills up in benchmarks with thousands of objects before the API server compacts.
		Set("quota-backend-bytes", fmt.Sprint(8<<30))
	api := &envtest.APIServer{CertDir: certs, StartTimeout: startTimeout, StopTimeout: stopTimeout}
	api.Configure().
		// Without these two a machine without a default route cannot start an API server.
		Set("advertise-address", "127.0.0.1").
		Set("endpoint-reconciler-type", "none").
		// envtest's range holds 254 Services, fewer than a benchmark creates.
		Set("service-cluster-ip-range", "10.0.0.0/16")
	for flag, value := range cp.flags {
		api.Configure().Set(flag, value)
	}
	if cp.workloads {
		// envtest switches ServiceAccount admission off because no controller creates ServiceAccounts.
		api.Configure().Disable("disable-admission-plugins")
	}
	for _, err := range []error{
		cp.assign(programEtcd, &etcd.Path, &etcd.Out, &etcd.Err),
		cp.assign(programAPIServer, &api.Path, &api.Out, &api.Err),
	} {
		if err != nil {
			return nil, err
		}
	}
	return &envtest.ControlPlane{Etcd: etcd, APIServer: api}, nil
}

// awaitServing waits until the API server is ready, including RBAC's own roles and the first namespaces.
func (cp *ControlPlane) awaitServing(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, pollInterval, startTimeout, true, func(ctx context.Context) (bool, error) {
		last = serves(ctx, clients)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server did not become ready: %w%s", errors.Join(last, err), cp.tail(programAPIServer))
	}
	return nil
}

// serves returns an error for the first part that is not ready; nil when everything is.
func serves(ctx context.Context, clients kubernetes.Interface) error {
	if err := clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return err
	}
	for _, namespace := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem} {
		if _, err := clients.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (cp *ControlPlane) logFolder() string { return filepath.Join(cp.Dir, "logs") }

func (cp *ControlPlane) logPath(program string) string {
	return filepath.Join(cp.logFolder(), program+".log")
}

// openLog opens a program's log: the first call of a start truncates it, further attempts append to it.
func (cp *ControlPlane) openLog(program string) (*os.File, error) {
	for _, log := range cp.logs {
		if log.Name() == cp.logPath(program) {
			return log, nil
		}
	}
	log, err := os.OpenFile(cp.logPath(program), os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600)
	if err == nil {
		cp.logs = append(cp.logs, log)
	}
	return log, err
}

// tail returns the end of a program's log, for an error: the log itself may be deleted with the rest.
func (cp *ControlPlane) tail(program string) string {
	data, err := os.ReadFile(cp.logPath(program))
	if err != nil || len(data) == 0 {
		return ""
	}
	lines := slices.DeleteFunc(bytes.Split(data, []byte("\n")), func(line []byte) bool { return bytes.Contains(line, []byte(etcdIsGone)) })
	data = bytes.Join(lines, []byte("\n"))
	if len(data) > tailBytes {
		data = data[len(data)-tailBytes:]
	}
	return fmt.Sprintf("\n--- end of the log of %s ---\n%s", program, strings.TrimSpace(string(data)))
}
