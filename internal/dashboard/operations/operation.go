package operations

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Operation is a request that is being carried out, or was.
type Operation struct {
	ID    string  `json:"id"`
	Deed  Request `json:"deed"`
	Title string  `json:"title"`
	// User is the user who requested it, or resumed it last.
	User  string `json:"user"`
	State State  `json:"state"`
	// Message explains the state; empty if there is nothing to explain.
	Message  string     `json:"message,omitempty"`
	Created  time.Time  `json:"created"`
	Finished *time.Time `json:"finished,omitempty"`
	Steps    []Step     `json:"steps"`
	Objects  []Object   `json:"objects"`
	// Changes are the fields of Kymas and releases that it has written, with the values of before; bounded.
	Changes []Change `json:"changes,omitempty"`
	// Access is what the requesting user may do with it.
	Access Access `json:"access"`
}

// State is the state of an operation.
type State string

// The states of an operation.
const (
	Running   State = "Running"
	Succeeded State = "Succeeded"
	Failed    State = "Failed"
	// Interrupted means that its server is gone, or that its user lost the permission; a user may resume it.
	Interrupted State = "Interrupted"
	// Cancelled means that a user cancelled it. Changes made until then stay.
	Cancelled State = "Cancelled"
)

// Step is one part of an operation; they come one after the other.
type Step struct {
	Title   string    `json:"title"`
	State   StepState `json:"state"`
	Message string    `json:"message,omitempty"`
}

// StepState is the state of a step.
type StepState string

// The states of a step.
const (
	StepWaiting StepState = "Waiting"
	StepRunning StepState = "Running"
	StepDone    StepState = "Done"
	StepFailed  StepState = "Failed"
)

// Object is the state of one thing that an operation is about: an object of a cluster, or a module.
type Object struct {
	Ref modulestatus.Ref `json:"ref"`
	// Kyma is the Kyma that it belongs to, if the operation is about several of them.
	Kyma    string `json:"kyma,omitempty"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
}

// Access is what a user may do with an operation.
type Access struct {
	Resume bool `json:"resume"`
	Cancel bool `json:"cancel"`
}

// Preview is what a request would change, and whether it can be done at all.
type Preview struct {
	// Way is how it is done: one of the ways of package modulestatus, or the next step of a deletion.
	Way string `json:"way"`
	// Why explains the way.
	Why string `json:"why"`
	// Confirm is the text that the user must type first; empty if none is required.
	Confirm string `json:"confirm"`
	// Diff is what would change.
	Diff []Change `json:"diff"`
	// Blocking lists the objects that block the request, or that a deletion with cascade deletes first.
	Blocking []Blocking `json:"blocking"`
	Warnings []string   `json:"warnings"`
	// Dependents lists the modules that need the deleted one, in the order of their removal.
	Dependents []Dependent `json:"dependents"`
	// Templates lists where directly installed modules would come from.
	Templates []Taken `json:"templates"`
	// Refused is the reason why it cannot be done; empty if it can.
	Refused string `json:"refused"`
}

// Dependent is a module that needs another one.
type Dependent struct {
	Module  string `json:"module"`
	Version string `json:"version,omitempty"`
	// Needs is what it needs, in words.
	Needs string `json:"needs,omitempty"`
}

// Taken describes where a directly installed module comes from.
type Taken struct {
	// Kyma is the Kyma that the module is upgraded in, if the request may name several of them; empty for a module without a Kyma.
	Kyma    string `json:"kyma,omitempty"`
	Module  string `json:"module"`
	Version string `json:"version"`
	// Namespace is the namespace of the template in the cluster that the module is installed into; empty if it is in none.
	Namespace string `json:"namespace"`
	// Hub is the namespace of the template on the hub, if the cluster is a runtime and has none of its own.
	Hub string `json:"hub"`
	// Origin is the address of the catalog that the template came from; empty if it came from none.
	Origin string `json:"origin"`
}

// Change is the change of one object.
type Change struct {
	// Kyma is the Kyma that the object belongs to, if the request may name several of them.
	Kyma   string           `json:"kyma,omitempty"`
	Object modulestatus.Ref `json:"object"`
	Change apply.Change     `json:"change"`
	Fields []Field          `json:"fields"`
	Error  string           `json:"error,omitempty"`
}

// Field is one field that would change.
type Field struct {
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Blocking is an object that a user created with a module.
type Blocking struct {
	Ref        modulestatus.Ref `json:"ref"`
	UID        types.UID        `json:"uid"`
	Deleting   bool             `json:"deleting"`
	Finalizers []string         `json:"finalizers"`
}

// mostChanges, mostChanged and mostValue bound the changes that an operation records, the fields of each, and the length of a value.
const mostChanges, mostChanged, mostValue = 20, 20, 300

// recorded returns a change within these bounds. Values for charts are left out: they may be secret, and a record outlives them.
func (c Change) recorded() Change {
	fields := make([]Field, 0, min(len(c.Fields), mostChanged))
	for _, f := range c.Fields[:min(len(c.Fields), mostChanged)] {
		if strings.Contains(f.Path+".", ".values.") || strings.Contains(f.From+f.To, `"values"`) {
			fields = append(fields, Field{Path: f.Path, From: unlessEmpty(f.From), To: unlessEmpty(f.To)})
			continue
		}
		fields = append(fields, Field{f.Path, clipped(f.From), clipped(f.To)})
	}
	c.Fields = fields
	return c
}

// unlessEmpty takes the place of a value that is not recorded.
func unlessEmpty(value string) string {
	if value == "" {
		return ""
	}
	return "(not recorded)"
}

func clipped(value string) string {
	if len(value) > mostValue {
		return strings.ToValidUTF8(value[:mostValue], "") + " ..."
	}
	return value
}

// mostObjects bounds how many objects an operation reports.
const mostObjects = 400
