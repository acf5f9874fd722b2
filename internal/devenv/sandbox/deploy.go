package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// DefaultKyma is the name of the Kyma of the first runtime.
const DefaultKyma = "demo"

// Deployment describes what should run in a sandbox whose hub already has the definitions and permissions of the manager.
type Deployment struct {
	// Order describes the manager.
	Order StartRequest
	// Policy is the signature policy; nil leaves the present one, which initially requires nothing.
	Policy *Policy
	// Samples publishes and offers the sample modules.
	Samples bool
	// Kyma, Channel and Modules are those of the Kyma for the first runtime; the others get the same name with a number.
	Kyma, Channel string
	Modules       []string
	// Wait is how long to wait until all Kymas are Ready; 0 for not at all.
	Wait time.Duration
}

// HubConfig returns the administrator's access to the hub.
func (s *Sandbox) HubConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Hub.Kubeconfig)
	if err == nil {
		config.QPS = -1 // an API server limits by itself
	}
	return config, err
}

// Deploy publishes and offers the sample modules, runs the manager, and creates a Kyma for each runtime. Existing objects stay.
func (s *Sandbox) Deploy(ctx context.Context, hub client.WithWatch, d Deployment, report Report) error {
	if d.Samples {
		if err := s.offer(ctx, hub, report); err != nil {
			return err
		}
	}
	if err := s.writePolicy(d.Policy); err != nil {
		return err
	}
	report("manager", "Starting", d.Order.Program)
	manager, err := s.StartManager(ctx, d.Order)
	if err != nil {
		return err
	}
	report("manager", "Ready", fmt.Sprintf("process %d", manager.Process))
	kymas := s.kymas(d)
	for i, kyma := range kymas {
		access, err := os.ReadFile(filepath.Join(s.Dir, s.Runtimes[i].Name, accessFile))
		if err != nil {
			return err
		}
		if err := create(ctx, hub, playground.AccessSecret(kyma.Namespace, kyma.Name, access), kyma); err != nil {
			return err
		}
	}
	if d.Wait == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.Wait)
	defer cancel()
	for _, kyma := range kymas {
		if err := AwaitReady(ctx, hub, client.ObjectKeyFromObject(kyma), report); err != nil {
			return err
		}
	}
	return nil
}

// writePolicy writes the policy of a deployment: the file must exist when the manager starts.
func (s *Sandbox) writePolicy(policy *Policy) error {
	if policy != nil {
		return s.ApplyPolicy(*policy)
	}
	_, err := os.Stat(filepath.Join(s.Dir, managerPart, signaturesFolder, signaturesFile))
	if errors.Is(err, os.ErrNotExist) {
		return s.ApplyPolicy(Policy{})
	}
	return err
}

// offer publishes the sample modules, signed with the key of the sandbox, and offers them.
func (s *Sandbox) offer(ctx context.Context, hub client.Client, report Report) error {
	signer, err := s.signer()
	if err != nil {
		return err
	}
	report("catalog", "Publishing", "the sample modules in "+s.Registry.URL)
	if err := playground.PublishModules(ctx, component.Registry{Host: s.Registry.Host, PlainHTTP: true}, signer); err != nil {
		return err
	}
	offers, err := playground.Offers()
	if err == nil {
		err = create(ctx, hub, offers...)
	}
	if err == nil {
		report("catalog", "Ready", fmt.Sprintf("%d sample modules", len(playground.Components())))
	}
	return err
}

// kymas returns one Kyma for each runtime.
func (s *Sandbox) kymas(d Deployment) []*v1beta2.Kyma {
	var kymas []*v1beta2.Kyma
	for i := range s.Runtimes {
		kyma := &v1beta2.Kyma{
			ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: d.Kyma},
			Spec:       v1beta2.KymaSpec{Channel: d.Channel},
		}
		if i > 0 {
			kyma.Name = fmt.Sprintf("%s-%d", d.Kyma, i+1)
		}
		for _, name := range d.Modules {
			kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: name})
		}
		kymas = append(kymas, kyma)
	}
	return kymas
}

// create creates the objects that do not exist.
func create(ctx context.Context, c client.Client, objects ...client.Object) error {
	for _, object := range objects {
		if err := c.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot create %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}

// NotReadyError is the error for a Kyma that is not Ready at the end of a wait.
type NotReadyError struct {
	Kyma, Status string
	Err          error
}

// Error returns one sentence.
func (e *NotReadyError) Error() string {
	return fmt.Sprintf("Kyma %s is not Ready: %s (%v)", e.Kyma, e.Status, e.Err)
}

// Unwrap returns why the wait ended.
func (e *NotReadyError) Unwrap() error { return e.Err }

// AwaitReady watches a Kyma until it is Ready or the context ends, and reports every change.
func AwaitReady(ctx context.Context, hub client.WithWatch, key client.ObjectKey, report Report) error {
	last := "it does not exist"
	for {
		events, err := hub.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			done := followKyma(events, func(kyma *v1beta2.Kyma) bool {
				last = whyNot(kyma)
				report("kyma/"+key.String(), stateOf(kyma), last)
				return playground.Ready(kyma)
			})
			events.Stop()
			if done {
				return nil
			}
		}
		if ctx.Err() != nil {
			return &NotReadyError{Kyma: key.String(), Status: last, Err: ctx.Err()}
		}
	}
}

// followKyma passes on the events of a watch, until enough returns true or the watch ends.
func followKyma(events watch.Interface, enough func(*v1beta2.Kyma) bool) bool {
	for event := range events.ResultChan() {
		if kyma, ok := event.Object.(*v1beta2.Kyma); ok && event.Type != watch.Deleted && enough(kyma) {
			return true
		}
	}
	return false
}

func stateOf(kyma *v1beta2.Kyma) string {
	if kyma.Status.State == "" {
		return string(v1beta2.StateProcessing)
	}
	return string(kyma.Status.State)
}

// whyNot returns the status of a Kyma on one line, with the message of its condition Ready unless it is Ready.
func whyNot(kyma *v1beta2.Kyma) string {
	line := playground.Describe(kyma)
	if condition := meta.FindStatusCondition(kyma.Status.Conditions, v1beta2.ConditionReady); condition != nil && !playground.Ready(kyma) {
		line += ": " + condition.Message
	}
	return line
}
