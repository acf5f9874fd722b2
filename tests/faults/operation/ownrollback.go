package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// fragile is a module whose second version never becomes ready: its Deployment waits for a node that does not exist, as one with an image
// that does not exist waits. It has no definition, which would stay what the newer version made of it.
const fragile = "fragile"

// shortestDeadline is the shortest progressDeadline that the API allows.
const shortestDeadline = 10 * time.Second

// fragileContent returns the content of fragile. The second version drops an object and adds another.
func (s *Scenario) fragileContent(version string) testkit.Content {
	module := s.named(fragile)
	content := testkit.Deployment(module, version)
	maps := testkit.ConfigMaps(module, version, 3).Objects
	if version == v1 {
		content.Objects = append(content.Objects, maps[0], maps[1])
		return content
	}
	content.Objects = append(content.Objects, maps[0], maps[2])
	for _, object := range content.Objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		selector := map[string]string{rig.NoNode: "true"}
		if err := unstructured.SetNestedStringMap(object.Object, selector, "spec", "template", "spec", "nodeSelector"); err != nil {
			panic(err) // the sample has a template
		}
	}
	return content
}

// installFragile installs fragile alone, which goes back by itself from upgrades that fail.
func installFragile(ctx context.Context, s *Scenario) error {
	module := s.named(fragile)
	if err := s.offer(ctx, module); err != nil {
		return err
	}
	s.Modules = []v1beta2.Module{{
		Name: module, OnFailedUpgrade: v1beta2.FailedUpgradeRollback, ProgressDeadline: &metav1.Duration{Duration: shortestDeadline},
	}}
	return install(ctx, s)
}

// offerBroken offers the version that does not become ready. From then on the lower one is what is wanted.
func offerBroken(ctx context.Context, s *Scenario) error {
	s.Back = v1
	return offerNext(ctx, s)
}

// wentBack is nil once the module has gone back by itself: what runs is the version before, Ready, and the newer one is held.
func wentBack(ctx context.Context, s *Scenario) error {
	if err := installed(v1)(ctx, s); err != nil {
		return err
	}
	kyma, err := s.Live(ctx)
	if err != nil {
		return err
	}
	module := s.named(fragile)
	at := slices.IndexFunc(kyma.Status.Modules, func(m v1beta2.ModuleStatus) bool { return m.Name == module })
	if at < 0 || !strings.HasPrefix(kyma.Status.Modules[at].Avoid, v2+"@") {
		return fmt.Errorf("module %s has not gone back from %s by itself: %v", module, v2, kyma.Status.Modules)
	}
	return nil
}
