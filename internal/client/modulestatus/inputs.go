package modulestatus

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Inputs are what was read of one cluster, as plain values. Package gather reads them.
type Inputs struct {
	Kymas     []v1beta2.Kyma
	Manifests []v1beta2.Manifest
	Templates []v1beta2.ModuleTemplate
	Releases  []v1beta2.ModuleReleaseMeta
	// Direct are the modules that were installed without the lifecycle manager.
	Direct []Direct
	// Objects are those that were read besides: modules' custom resources and the objects that run their operators.
	Objects []*unstructured.Unstructured
	// Looked are the kinds of which every object was requested, so that one that is not among Objects does not exist.
	Looked []ListedKind
	// Unread are the kinds that could not be read, and why.
	Unread []Unread
	// Prereleases lets versions such as 1.2.0-rc count as available for modules that follow no channel.
	Prereleases bool
}

// ListedKind is a kind of which all objects were read, in one namespace or, where that is empty, in all.
type ListedKind struct {
	schema.GroupKind
	Namespace string
}

// Unread is a kind that could not be read.
type Unread struct {
	schema.GroupKind
	// Namespace that it was requested in; empty means all.
	Namespace string
	// Forbidden reports that the user may not read it.
	Forbidden bool
	// Text is what the cluster said.
	Text string
}

// Reasons of what is Unknown.
const (
	// WhyForbidden: the user may not read it.
	WhyForbidden = "Forbidden"
	// WhyReadFailed: reading it failed.
	WhyReadFailed = "ReadFailed"
	// WhyNotObserved: it lives in another cluster, and nothing here tells of it.
	WhyNotObserved = "NotObserved"
)

// Reason returns one word for why it could not be read.
func (u Unread) Reason() string {
	if u.Forbidden {
		return WhyForbidden
	}
	return WhyReadFailed
}

// Message returns what could not be read, and why.
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

// unread returns why objects of a kind in a namespace (empty: anywhere) were not read, nil when nothing went wrong.
func (in *Inputs) unread(kind schema.GroupKind, namespace string) *Unread {
	for i := range in.Unread {
		u := &in.Unread[i]
		if u.GroupKind == kind && (u.Namespace == "" || namespace == "" || u.Namespace == namespace) {
			return u
		}
	}
	return nil
}

// isListed reports whether all objects of a kind in a namespace (empty: in all) were requested.
func (in *Inputs) isListed(kind schema.GroupKind, namespace string) bool {
	for _, l := range in.Looked {
		if l.GroupKind == kind && (l.Namespace == "" || l.Namespace == namespace) {
			return true
		}
	}
	return false
}

// objectsOf returns all of Objects of a kind.
func (in *Inputs) objectsOf(kind schema.GroupKind) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, o := range in.Objects {
		if o.GroupVersionKind().GroupKind() == kind {
			found = append(found, o)
		}
	}
	return found
}
