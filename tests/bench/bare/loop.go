package bare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

// agent is who the loop is to servers, so that it can be told from the manager.
const agent = "bare"

// resources are the kinds that modules of benches have.
var resources = map[string]schema.GroupVersionResource{
	"ConfigMap":      {Version: "v1", Resource: "configmaps"},
	"Secret":         {Version: "v1", Resource: "secrets"},
	"ServiceAccount": {Version: "v1", Resource: "serviceaccounts"},
	"Service":        {Version: "v1", Resource: "services"},
	"LimitRange":     {Version: "v1", Resource: "limitranges"},
	"ResourceQuota":  {Version: "v1", Resource: "resourcequotas"},
	"Deployment":     {Group: "apps", Version: "v1", Resource: "deployments"},
	"Role":           {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":    {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
}

// unit is one module of one runtime.
type unit struct {
	writer  dynamic.Interface
	lister  metadata.Interface
	objects []*unstructured.Unstructured
}

// tally counts calls to runtimes, and writes to the hub.
type tally struct {
	calls, writes atomic.Int64
	times         meter.Latencies
}

// timed does something, and returns what it came to.
func timed(do func(*tally) error) (Outcome, error) {
	var t tally
	begin, before := time.Now(), processor()
	if err := do(&t); err != nil {
		return Outcome{}, err
	}
	return Outcome{
		Calls: int(t.calls.Load()), HubWrites: int(t.writes.Load()), Took: time.Since(begin), CPU: processor() - before,
		P50: meter.Milliseconds(t.times.Quantile(0.5)), P99: meter.Milliseconds(t.times.Quantile(0.99)),
	}, nil
}

// loop prepares everything, and then takes the time.
func loop(ctx context.Context, spec Spec) (Outcome, error) {
	units, err := prepare(spec)
	if err != nil {
		return Outcome{}, err
	}
	return timed(func(t *tally) error {
		for range max(1, spec.Rounds) {
			group, groupCtx := errgroup.WithContext(ctx)
			group.SetLimit(spec.Units)
			for _, u := range units {
				group.Go(func() error { return u.run(groupCtx, spec, t) })
			}
			if err := group.Wait(); err != nil {
				return err
			}
		}
		return nil
	})
}

// prepare makes a client for each runtime, and parses the objects.
func prepare(spec Spec) ([]*unit, error) {
	var units []*unit
	for _, kubeconfig := range spec.Kubeconfigs {
		config, err := configOf(kubeconfig)
		if err != nil {
			return nil, err
		}
		writer, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		lister, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		for _, module := range spec.Modules {
			objects, err := parse(module)
			if err != nil {
				return nil, err
			}
			units = append(units, &unit{writer: writer, lister: lister, objects: objects})
		}
	}
	return units, nil
}

// configOf returns access without a rate limit.
func configOf(kubeconfig []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.UserAgent = -1, agent
	return config, nil
}

func parse(module []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(module), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

func (u *unit) run(ctx context.Context, spec Spec, t *tally) error {
	if spec.Mode == List {
		begin := time.Now()
		_, err := u.lister.Resource(resources["ConfigMap"]).List(ctx, metav1.ListOptions{})
		t.times.Add(time.Since(begin))
		t.calls.Add(1)
		return err
	}
	_, err := u.install(ctx, spec.Workers, t)
	return err
}

// install applies all objects, some at once, and returns what the runtime has then, in the same order.
func (u *unit) install(ctx context.Context, workers int, t *tally) ([]*unstructured.Unstructured, error) {
	applied := make([]*unstructured.Unstructured, len(u.objects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i, object := range u.objects {
		group.Go(func() (err error) {
			begin := time.Now()
			applied[i], err = u.apply(ctx, object)
			t.times.Add(time.Since(begin))
			t.calls.Add(1)
			return err
		})
	}
	return applied, group.Wait()
}

func (u *unit) apply(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, ok := resources[object.GetKind()]
	if !ok {
		return nil, fmt.Errorf("the bare loop does not know the kind %s", object.GetKind())
	}
	target := u.writer.Resource(resource).Namespace(object.GetNamespace())
	return target.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: agent, Force: true})
}

// processor returns the time that this process has had, the kernel on its behalf included.
func processor() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
