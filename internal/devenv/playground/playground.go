//go:build unix

package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// clientProgram is the command line, which some of the things to try need.
const clientProgram = "kyma"

// Options configure a playground.
type Options struct {
	// Dir is the parent of one numbered folder per playground; default: .playground in the checkout.
	Dir string
	// Programs is the folder with the programs manager, kyma, beacon and greeter.
	Programs string
	// Dashboard serves the dashboard of the hub, which may use this registry for modules without the manager; nil for no dashboard.
	Dashboard func(ctx context.Context, hub *rest.Config, registry string) (Dashboard, error)
}

// Dashboard is a running dashboard.
type Dashboard struct {
	// Link contains the login code.
	Link string
	// Stop ends it.
	Stop func() error
}

// playground is a playground that starts, runs or ends.
type playground struct {
	options  Options
	folder   *folder
	progress *progress
	crew     *ProcessGroup

	root     string // of the checkout
	assets   string // folder with the control plane programs and kubectl
	ownLog   *os.File
	registry *localcluster.Registry
	web      *web
	hub      *cluster
	runtime  *cluster
	canary   *cluster // started on request
	board    Dashboard
}

// Run starts a playground, prints what to try, and ends it when the context ends, which is not an error. Failures are printed to out, too.
func Run(ctx context.Context, options Options, out io.Writer) error {
	p := &playground{options: options, progress: newProgress(out, time.Now), crew: NewProcessGroup()}
	err := p.open()
	if err == nil {
		err = p.run(ctx)
	}
	if ctx.Err() != nil {
		err = nil // work in progress was interrupted
		p.progress.sayf("\nEnding everything that was started ...")
	}
	if err != nil {
		p.progress.sayf("\nFAILED: %v", err)
		p.sayLogs()
	}
	return errors.Join(err, p.close())
}

// run starts everything and waits for the end. The third cluster is started meanwhile, when a user asks for it.
func (p *playground) run(ctx context.Context) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	p.progress.sayf("%s", p.summary())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.serveCanary(ctx) })
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-p.crew.Ended():
			return p.crew.Failure()
		}
	})
	return group.Wait()
}

// open claims a folder and redirects the logs of libraries, which help to analyse a failure.
func (p *playground) open() error {
	var err error
	if p.root, err = localcluster.Root(); err != nil {
		return err
	}
	if p.options.Dir == "" {
		p.options.Dir = filepath.Join(p.root, ".playground")
	}
	if p.folder, err = claim(p.options.Dir); err != nil {
		return err
	}
	if p.ownLog, err = os.OpenFile(p.folder.path("playground.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	log := zap.New(zap.WriteTo(p.ownLog))
	klog.SetLogger(log)
	logf.SetLogger(log)
	if len(p.folder.busy) > 0 {
		p.progress.sayf("%s, so this is playground %d.", strings.Join(p.folder.busy, ", "), p.folder.number)
	}
	p.progress.sayf("Playground %d keeps its state and logs in %s. Ctrl-C ends it at any time.\n", p.folder.number, short(p.folder.dir))
	return nil
}

// start starts everything, up to two Kymas that are Ready. Clusters and registry start at the same time.
func (p *playground) start(ctx context.Context) error {
	if err := p.findPrograms(ctx); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return inOrder(groupCtx, p.startHub, p.prepareHub, p.offerModules) })
	group.Go(func() error { return p.startRuntime(groupCtx) })
	group.Go(func() error { return inOrder(groupCtx, p.startRegistry, p.publishModules, p.publishContent) })
	if err := group.Wait(); err != nil {
		return err
	}
	return inOrder(ctx, p.startManager, p.startOperators, p.applyKymas, p.awaitKymas, p.writeEnv, p.serveDashboard)
}

func (p *playground) serveDashboard(ctx context.Context) error {
	if p.options.Dashboard == nil {
		return nil
	}
	return p.progress.step("dashboard", "serving the dashboard", func() (string, error) {
		var err error
		p.board, err = p.options.Dashboard(ctx, p.hub.Config, p.registry.Host)
		return "is at " + p.board.Link, err
	})
}

func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// findPrograms checks the programs that the playground runs before anything is started.
func (p *playground) findPrograms(ctx context.Context) error {
	for _, program := range append([]string{managerProgram, clientProgram}, operatorPrograms()...) {
		if _, err := os.Stat(p.program(program)); err != nil {
			return fmt.Errorf("there is no program %s: make run builds it (make build-playground builds it only)", p.program(program))
		}
	}
	var err error
	p.assets, err = localcluster.Assets(ctx)
	return err
}

func (p *playground) program(name string) string { return filepath.Join(p.options.Programs, name) }

func (p *playground) startRegistry(ctx context.Context) error {
	return p.progress.step("registry", "starting an OCI registry", func() (string, error) {
		dir, err := p.folder.part("registry")
		if err != nil {
			return "", err
		}
		p.registry, err = localcluster.StartRegistry(ctx, localcluster.RegistryOptions{Dir: dir})
		if err != nil {
			return "", err
		}
		return "serves http://" + p.registry.Host, nil
	})
}

// close ends everything that was started: the manager first and in order, because it has work in flight; then what it depends on.
func (p *playground) close() error {
	began := time.Now()
	var err error
	if p.board.Stop != nil {
		err = p.board.Stop()
	}
	err = errors.Join(err, p.crew.End(), p.stopClusters())
	if p.registry != nil {
		err = errors.Join(err, p.registry.Stop())
	}
	if p.web != nil {
		err = errors.Join(err, p.web.stop())
	}
	if p.ownLog != nil {
		err = errors.Join(err, p.ownLog.Close())
	}
	if p.folder == nil {
		return nil // nothing was started
	}
	err = errors.Join(err, p.folder.release())
	if err != nil {
		p.progress.sayf("Not everything ended as it should: %v", err)
		return err
	}
	p.progress.sayf("Everything ended (took %.1f s).", time.Since(began).Seconds())
	return nil
}

// sayLogs prints the paths of the logs.
func (p *playground) sayLogs() {
	if p.folder == nil {
		return
	}
	var logs strings.Builder
	rows := [][]string{
		{"manager", short(p.folder.path(managerProgram, managerLog))},
		{"clusters", short(p.folder.path(hubName, "logs")) + ", " + short(p.folder.path(runtimeName, "logs"))},
		{"playground", short(p.folder.path("playground.log"))},
	}
	for _, module := range operatorPrograms() {
		rows = append(rows, []string{module, short(p.folder.path(module))})
	}
	table(&logs, rows)
	p.progress.sayf("\nLogs\n%s", &logs)
}
