// Package runtimes has the types by which controllers and the cluster cache speak of managed clusters, so that neither side declares and
// converts types of its own.
//
// Non-goals: it connects to nothing and decides nothing. What a controller requires of a connection is an interface of that controller.
package runtimes

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Problem is a cause that a status can name. As an error it ends a pass.
type Problem struct {
	// Reason is one of the API's. RuntimeConnecting is no failure: the first response is awaited, and the owner is enqueued then.
	Reason string
	// Message says what a user can do; it never holds a credential.
	Message string
	// Retry is when another try is worthwhile without an event; zero means that only an event helps.
	Retry time.Duration
	// Passing means that nothing has failed: the missing part will arrive by itself.
	Passing bool
	// Err is the cause, if there is one.
	Err error
}

// Error returns the reason and the message.
func (p *Problem) Error() string { return p.Reason + ": " + p.Message }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Mode defines how much of a kind's objects is read.
type Mode int

// The modes. When several Manifests track one kind in different modes, it is read so that all of them are satisfied.
const (
	// Metadata reads the metadata of owned objects. CustomResourceDefinitions and Namespaces have health nevertheless.
	Metadata Mode = iota
	// Workload reads owned objects in full and keeps their health.
	Workload
	// ModuleCR reads all objects of the kind, owned or not, and keeps their state and message.
	ModuleCR
	// Copy reads the metadata of owned objects, and enqueues all owners that track the kind with Copy at every change of any of them.
	Copy
	// Definition reads the one CustomResourceDefinition that Only names, owned or not, and enqueues all owners that track it at every
	// change of it. It costs a list and a stream of that object.
	Definition
)

// Interest is a kind that a Manifest tracks.
type Interest struct {
	schema.GroupVersionKind
	Mode Mode
	// Keep keeps the objects of the kind whole, for Object and ModuleCRs; Mode still defines which ones those are. An owner that sets it is
	// enqueued by every change of one of its objects (of every object where Mode is ModuleCR), including its status, but not by a bare
	// change of resourceVersion or managedFields.
	//
	// It costs memory: the JSON of every object without managedFields, which is 1 to 3 KiB for a Deployment or the custom resource of a
	// module, up to 1 MiB for a ConfigMap or a Secret (whose values are then held, too), and 48 bytes. The 180 bytes that every object
	// costs come on top. The stream is one of full objects, without additional calls. Like every wider readLevel of a kind, it stays until
	// no owner tracks the kind any more.
	Keep bool
	// Only, when it has a name, limits the kind to one object. It is effective as long as all owners that track the kind name the same
	// one.
	Only types.NamespacedName
}

// ModuleCRStatus is what is known of one custom resource of a module.
type ModuleCRStatus struct {
	Namespace, Name string
	// UID distinguishes a re-created object from the previous one.
	UID types.UID
	// State and Message are what the object reports, empty without a report.
	State, Message string
	// Terminating means that it is being deleted.
	Terminating bool
	// Object is the whole object where the kind is tracked with Keep, nil otherwise. The caller may change it.
	Object *unstructured.Unstructured
}

// Capabilities holds what templates may query about the cluster that they are rendered for.
type Capabilities struct {
	// KubeVersion is the version of the API server, such as "v1.36.3".
	KubeVersion string
	// APIVersions lists the groups and versions that are served ("apps/v1") and the kinds in them ("apps/v1/Deployment"), sorted. It
	// contains what Helm's own client finds, plus the groups whose servers do not respond at the moment.
	APIVersions []string
	// Installation is what the cluster has of the installation. Nil: the content is only looked at, what its charts would generate is
	// invented, and nothing that they look up is found.
	Installation *Installation
}

// Installation is what a cluster has of the installation that content is rendered for.
type Installation struct {
	// Exists reports whether objects of it were applied.
	Exists bool
	// Kept reads what the charts have generated and looked up.
	Kept func(context.Context) (generated.Store, error)
	// Lookup reads what a chart looks up: an object or a list as JSON, or null for what is not there.
	Lookup func(context.Context, render.Lookup) (json.RawMessage, error)
}
