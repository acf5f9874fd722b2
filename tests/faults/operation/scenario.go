package operation

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// The versions of a Scenario's modules: v1 in channel regular, v2 in channel fast.
const (
	v1 = "1.0.0"
	v2 = "1.1.0"

	fast = "fast"
)

// Scenario holds what belongs to one operation: a Kyma, and modules that nothing else uses.
type Scenario struct {
	// Rig is the rig on which it runs.
	Rig *rig.Rig
	// ID is part of every name; it consists of lower-case letters.
	ID string
	// Home is the Kyma's runtime, and Other one that nothing of this Scenario may reach.
	Home, Other *rig.Server
	// Web is a realistic module: definition, permissions, Deployment and a default custom resource. Maps has only ConfigMaps, of which an
	// upgrade drops one and adds another. Spare is offered by some operations and installed by none.
	Web, Maps, Spare string
	// Token is the present token in the access Secret.
	Token string
	// Back is the version that modules may go back to, because a user asked for it; empty while none may.
	Back string
	// Held is a version that waits for consent, and Agreed are the numbers of the last calls before a person gave it, by server; nil while
	// that has not happened.
	Held   string
	Agreed map[string]uint64
	// Foreign are the calls of Home during which another hub has it, as the manager knows; nil while none had.
	Foreign *Span
	// Before are the identities of all objects of the modules before the manager was upgraded.
	Before map[string]identity
	// Kept is the UID of an object that must outlive the operation.
	Kept types.UID
	// Contents are the published contents, by module and version.
	Contents map[string]map[string]testkit.Content
	// Published are the digests of their components, by module and version.
	Published map[string]map[string]string
	// Modules are those of the Kyma when it is created.
	Modules []v1beta2.Module

	// Since holds the numbers of the last calls before the Scenario, by server.
	Since map[string]uint64
	// Decoys are objects of another user, in both runtimes, as they were created.
	Decoys map[*rig.Server][]*corev1.ConfigMap
}

var taken atomic.Int64

// NewID returns the ID of a Scenario: lower-case letters that no word contains, and that no other Scenario has.
func NewID() string {
	n := taken.Add(1)
	suffix := []byte("aaaa")
	for i := len(suffix) - 1; i >= 0; i-- {
		suffix[i] = byte('a' + n%26)
		n /= 26
	}
	return "zq" + string(suffix)
}

// NewScene publishes and offers the modules, and creates objects in the runtimes that the manager must not touch. The ID may be that of a
// closed Scenario, which then has the same versions.
func NewScene(ctx context.Context, r *rig.Rig, id string) (*Scenario, error) {
	if r.Bystander == "" {
		if err := bystand(ctx, r); err != nil {
			return nil, fmt.Errorf("cannot make the bystander: %w", err)
		}
	}
	s := blank(r, id)
	for _, module := range []string{s.Web, s.Maps} {
		if err := s.offer(ctx, module); err != nil {
			return nil, fmt.Errorf("cannot offer module %s: %w", module, err)
		}
	}
	for _, server := range []*rig.Server{s.Home, s.Other} {
		if err := s.decoy(ctx, server); err != nil {
			return nil, fmt.Errorf("cannot make decoys: %w", err)
		}
	}
	return s, nil
}

func blank(r *rig.Rig, id string) *Scenario {
	s := &Scenario{
		Rig: r, ID: id, Home: r.Runtimes[0], Other: r.Runtimes[1],
		Web: "web-" + id, Maps: "maps-" + id, Spare: "spare-" + id,
		Contents: map[string]map[string]testkit.Content{}, Published: map[string]map[string]string{},
		Since: map[string]uint64{}, Decoys: map[*rig.Server][]*corev1.ConfigMap{},
	}
	s.Modules = []v1beta2.Module{{Name: s.Web}, {Name: s.Maps}}
	for _, server := range r.Servers() {
		s.Since[server.Proxy.Name()] = server.Proxy.Last()
	}
	return s
}

// Kyma returns a Kyma with only its name.
func (s *Scenario) Kyma() *v1beta2.Kyma { return testkit.Kyma("kyma-" + s.ID) }

// Live returns the Kyma from the hub.
func (s *Scenario) Live(ctx context.Context) (*v1beta2.Kyma, error) {
	kyma := s.Kyma()
	return kyma, s.Rig.Hub.Client.Get(ctx, client.ObjectKeyFromObject(kyma), kyma)
}

// Manifests returns the Manifests of the Kyma.
func (s *Scenario) Manifests(ctx context.Context) ([]v1beta2.Manifest, error) {
	var found v1beta2.ManifestList
	err := s.Rig.Hub.Client.List(ctx, &found, client.InNamespace(v1beta2.DefaultNamespace),
		client.MatchingLabels{v1beta2.LabelKymaName: s.Kyma().Name})
	return found.Items, err
}

// content returns the content of a version of a module.
func (s *Scenario) content(module, version string) testkit.Content {
	switch {
	case module == s.Web, module == s.named(alias):
		return testkit.Operator(s.Web, version)
	case module == s.named(paper):
		return s.paperContent(version)
	case module == s.named(fragile):
		return s.fragileContent(version)
	case module == s.named(left), module == s.named(right):
		return s.sharedContent(module, version)
	case version == v1:
		return testkit.ConfigMaps(module, version, 3)
	}
	content := testkit.ConfigMaps(module, version, 4)
	content.Objects = append(content.Objects[:2], content.Objects[3])
	return content
}

// offer publishes two versions of a module, and points the channels at them.
func (s *Scenario) offer(ctx context.Context, module string) error {
	release := testkit.ModuleReleaseMeta(module, v1beta2.DefaultChannel+"="+v1, fast+"="+v2)
	s.Contents[module], s.Published[module] = map[string]testkit.Content{}, map[string]string{}
	for _, version := range []string{v1, v2} {
		content := s.content(module, version)
		digest, err := publish(ctx, s.Rig, module, version, testkit.RawManifest(content.YAML()))
		if err != nil {
			return err
		}
		s.Contents[module][version], s.Published[module][version] = content, digest
		template := testkit.ModuleTemplate(module, version, func(spec *v1beta2.ModuleTemplateSpec) {
			spec.Data, spec.Manager, spec.AssociatedResources = content.DefaultCR, content.Manager, content.Associated
			spec.RollbackTo = ">=" + v1
			if module == s.named(paper) {
				spec.AllowCRDChanges = []v1beta2.CRDRule{crdsafety.VersionRemoved}
			}
		})
		if err := s.Rig.Hub.Client.Create(ctx, template); err != nil {
			return err
		}
	}
	return s.Rig.Hub.Client.Create(ctx, release)
}

func publish(ctx context.Context, r *rig.Rig, module, version string, layers ...component.Resource) (string, error) {
	registry := component.Registry{Host: r.Registry.Host, PlainHTTP: true}
	content := component.Version{
		Name: testkit.ComponentName(module), Version: version, Provider: "kyma-project.io", Resources: layers,
	}
	return component.Push(ctx, registry, content, component.Overwrite)
}

// Republish replaces the content of a version of a module, for example by something that must be refused.
func (s *Scenario) Republish(ctx context.Context, module, version string, layers ...component.Resource) error {
	_, err := publish(ctx, s.Rig, module, version, layers...)
	return err
}

// decoy creates objects that resemble ours by name or by mark, but are not.
func (s *Scenario) decoy(ctx context.Context, server *rig.Server) error {
	object := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}, Data: map[string]string{"whose": "not yours"},
		}
	}
	marked := object("decoy-marked-" + s.ID)
	marked.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
	marked.Annotations = map[string]string{v1beta2.AnnotationOwnedBy: v1beta2.DefaultNamespace + "/somebody-else-" + s.ID}
	for _, decoy := range []*corev1.ConfigMap{object(s.Maps + "-9"), marked} {
		if err := server.Client.Create(ctx, decoy); err != nil {
			return err
		}
		s.Decoys[server] = append(s.Decoys[server], decoy)
	}
	return nil
}
