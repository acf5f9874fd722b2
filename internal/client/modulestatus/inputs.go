package modulestatus

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Inputs are the objects read from one cluster, as plain values. Package statusreader reads them.
type Inputs struct {
	Kymas     []v1beta2.Kyma
	Manifests []v1beta2.Manifest
	Templates []v1beta2.ModuleTemplate
	Releases  []v1beta2.ModuleReleaseMeta
	// Rollouts are read only for what shows releases in waves.
	Rollouts []v1beta2.ModuleRollout
	// Direct are the modules that were installed without the lifecycle manager.
	Direct []Direct
	// Objects are the additional objects: modules' custom resources and the objects that run their operators.
	Objects []*unstructured.Unstructured
	// Looked are the kinds whose objects were all listed, so that one that is not among Objects does not exist.
	Looked []ListedKind
	// Unserved are the kinds that the cluster does not know, so that no object of them exists; they are among Looked, too.
	Unserved []schema.GroupKind
	// Unread are the kinds that could not be read, and why.
	Unread []Unread
	// Prereleases lets versions such as 1.2.0-rc count as available for modules that follow no channel.
	Prereleases bool
}

// ListedKind is a kind whose objects were all read, in one namespace or, if that is empty, in all.
type ListedKind struct {
	schema.GroupKind
	Namespace string
}

// Unread is a kind that could not be read.
type Unread struct {
	schema.GroupKind
	// Namespace in which it was requested; empty means all.
	Namespace string
	// Forbidden reports that the user may not read it.
	Forbidden bool
	// Text is the error of the cluster.
	Text string
}

// Reasons of the state Unknown.
const (
	// WhyForbidden: the user may not read it.
	WhyForbidden = "Forbidden"
	// WhyReadFailed: reading it failed.
	WhyReadFailed = "ReadFailed"
	// WhyNotObserved: it is in another cluster, and no object here describes it.
	WhyNotObserved = "NotObserved"
)

// Reason returns why the kind could not be read, in one word.
func (u Unread) Reason() string {
	if u.Forbidden {
		return WhyForbidden
	}
	return WhyReadFailed
}

// Message returns the kind that could not be read, and why.
func (u Unread) Message() string {
	where := ""
	if u.Namespace != "" {
		where = " in namespace " + u.Namespace
	}
	if u.Forbidden {
		return fmt.Sprintf("you may not list %s%s", u.GroupKind, where)
	}
	return fmt.Sprintf("%s%s cannot be read: %s", u.GroupKind, where, cmp.Or(u.Text, "no reason was given"))
}

// unread returns why objects of a kind in a namespace (empty: anywhere) were not read, nil if they were.
func (in *Inputs) unread(kind schema.GroupKind, namespace string) *Unread {
	for i := range in.Unread {
		u := &in.Unread[i]
		if u.GroupKind == kind && (u.Namespace == "" || namespace == "" || u.Namespace == namespace) {
			return u
		}
	}
	return nil
}

// isListed reports whether all objects of a kind in a namespace (empty: in all) were listed.
func (in *Inputs) isListed(kind schema.GroupKind, namespace string) bool {
	for _, l := range in.Looked {
		if l.GroupKind == kind && (l.Namespace == "" || l.Namespace == namespace) {
			return true
		}
	}
	return false
}

// objectsOf returns all Objects of a kind.
func (in *Inputs) objectsOf(kind schema.GroupKind) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, o := range in.Objects {
		if o.GroupVersionKind().GroupKind() == kind {
			found = append(found, o)
		}
	}
	return found
}

// RolloutOf returns the rollout of a module, nil if there is none.
func (in *Inputs) RolloutOf(namespace, module string) *v1beta2.ModuleRollout {
	for i := range in.Rollouts {
		if in.Rollouts[i].Name == module && in.Rollouts[i].Namespace == namespace {
			return &in.Rollouts[i]
		}
	}
	return nil
}
