package declarative

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// State summarises an object in one word, in Kyma's convention.
type State string

// States of an object.
const (
	// StateReady: everything that the object requires is installed and runs.
	StateReady State = "Ready"
	// StateProcessing: the installation is in progress.
	StateProcessing State = "Processing"
	// StateError: something failed; the condition has the details.
	StateError State = "Error"
	// StateDeleting: the installed objects are being removed.
	StateDeleting State = "Deleting"
	// StateWarning: a user must do something first; the condition has the details.
	StateWarning State = "Warning"
)

// ConditionReady is true when State is Ready. Its reason is one of this package, of pkg/installer or pkg/content, or a class of pkg/apply.
const ConditionReady = "Ready"

// Reasons in addition to those of pkg/installer.
const (
	// ReasonInstallationFailed: Reconciler.Installation returned an error.
	ReasonInstallationFailed = "InstallationFailed"
	// ReasonTargetFailed: Reconciler.Target returned an error, or a configuration that cannot be used.
	ReasonTargetFailed = "TargetFailed"
	// ReasonHookFailed: AfterApply or BeforeDelete returned an error.
	ReasonHookFailed = "HookFailed"
	// ReasonWarning: one of the operator's functions returned a Warning.
	ReasonWarning = "Warning"
	// ReasonNotWatched: the installed objects cannot be watched.
	ReasonNotWatched = "NotWatched"
)

// Status is embedded by a custom resource in its status, with the JSON tag ",inline".
// +kubebuilder:object:generate=false
type Status struct {
	// State in the words that every Kyma module uses.
	// +kubebuilder:validation:Enum=Ready;Processing;Error;Deleting;Warning
	State State `json:"state,omitempty"`
	// ObservedGeneration is the generation that State is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions say why.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Contents are what the Sources stood for when they were installed first, and do until they ask for something else.
	// +listType=map
	// +listMapKey=source
	Contents []Content `json:"contents,omitempty"`
}

// Content is what one Source stands for.
type Content struct {
	// Source is its name.
	Source string `json:"source"`
	// Reference is what it asked for.
	Reference string `json:"reference"`
	// Digest of what that was.
	Digest string `json:"digest"`
	// Version of what that was, where contents have some.
	Version string `json:"version,omitempty"`
	// MediaType of what that was, where contents have some.
	MediaType string `json:"mediaType,omitempty"`
}

// DeepCopyInto copies the status into out, which then shares nothing with it.
func (s *Status) DeepCopyInto(out *Status) {
	*out = *s
	out.Conditions = slices.Clone(s.Conditions) // conditions and contents hold no pointers
	out.Contents = slices.Clone(s.Contents)
}

// pinned returns the contents in the form that pkg/installer takes.
func (s *Status) pinned() []installer.Resolved {
	pinned := make([]installer.Resolved, 0, len(s.Contents))
	for _, known := range s.Contents {
		pinned = append(pinned, installer.Resolved{
			Source: known.Source, Reference: known.Reference,
			Resolved: content.Resolved{Digest: known.Digest, Version: known.Version, MediaType: known.MediaType},
		})
	}
	return pinned
}

// observe records the result of a pass.
func (s *Status) observe(told verdict, generation int64, report installer.Report, err error) {
	ready := metav1.ConditionFalse
	if told.state == StateReady {
		ready = metav1.ConditionTrue
	}
	s.State, s.ObservedGeneration = told.state, generation
	conditions.Set(&s.Conditions, ConditionReady, ready, told.reason, told.message, generation, metav1.Now())
	if err != nil || len(report.Resolved) == 0 {
		return
	}
	s.Contents = nil
	for _, resolved := range report.Resolved {
		s.Contents = append(s.Contents, Content{
			Source: resolved.Source, Reference: resolved.Reference,
			Digest: resolved.Digest, Version: resolved.Version, MediaType: resolved.MediaType,
		})
	}
}

// verdict is the content of a status.
type verdict struct {
	state           State
	reason, message string
}

// verdictOf returns the verdict on a pass. The first rule that fits counts:
//
//  1. A Warning of the operator is a Warning.
//  2. Any other error is an Error, with its reason.
//  3. A deletion that others block is a Warning: a user must delete the blocking objects.
//  4. An object that is being deleted is Deleting until it is gone.
//  5. Otherwise the state of pkg/installer counts: Ready, Processing, or Error where an object has failed.
func verdictOf(object client.Object, report installer.Report, err error) verdict {
	if told, ok := errors.AsType[*warning](err); ok {
		return verdict{StateWarning, ReasonWarning, told.Error()}
	}
	if told, ok := errors.AsType[*failure](err); ok {
		return verdict{StateError, told.reason, told.Error()}
	}
	if err != nil {
		return verdict{StateError, installer.ReasonOf(err), err.Error()}
	}
	told := verdict{State(report.State), report.Reason, report.Message}
	switch {
	case report.Reason == installer.ReasonDeletionBlocked:
		told.state = StateWarning
	case !object.GetDeletionTimestamp().IsZero():
		told.state = StateDeleting
	}
	return told
}

// write stores the status, if it has changed.
func (r *Reconciler[T]) write(ctx context.Context, before any, object T) error {
	last, ok := before.(client.Object)
	if !ok || equality.Semantic.DeepEqual(last, client.Object(object)) {
		return nil
	}
	return client.IgnoreNotFound(r.client.Status().Patch(ctx, object, client.MergeFrom(last)))
}

// Warning returns an error for the functions of a Reconciler: not a failure, but something that a user must do first, such as deleting
// objects that still use the module. It is reported as StateWarning, and checked again after a while.
func Warning(format string, args ...any) error { return &warning{fmt.Errorf(format, args...)} }

type warning struct{ error }

func (w *warning) Unwrap() error { return w.error }

// failure is an error of the operator's own functions.
type failure struct {
	reason string
	error
}

func (f *failure) Unwrap() error { return f.error }

// failed gives an error a reason; a nil error stays nil.
func failed(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{reason, err}
}
