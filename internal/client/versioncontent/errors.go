package versioncontent

import (
	"context"
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Reasons of this package, in addition to those of pkg/component/descriptor and pkg/content.
const (
	// ReasonUnlocated: nothing says which registry holds the component.
	ReasonUnlocated = "RegistryUnknown"
	// ReasonUnsupported: the version is installed from something that is not read here.
	ReasonUnsupported = v1beta2.ReasonSourceUnsupported
	// ReasonTimeout: the version could not be read in time.
	ReasonTimeout = "Timeout"
)

// Error says why a version cannot be shown.
type Error struct {
	// Reason is one of those above.
	Reason string
	// Host is the registry that was asked; empty where none was.
	Host string
	// Remedy is what a user can do, as a sentence without its first capital and its full stop; may be empty.
	Remedy string
	// Err describes what happened, where.
	Err error
}

// Error returns the text without the remedy.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of an error of a Loader, "" for any other.
func ReasonOf(err error) string {
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed.Reason
	}
	return ""
}

func unlocated(at place) error {
	return &Error{
		Reason: ReasonUnlocated, Remedy: "name the registry of the modules' components with --registry",
		Err: fmt.Errorf("the registry of component %s:%s is not known here: neither its ModuleTemplate nor an object of the hub that you may "+
			"read names it", at.name, at.version),
	}
}

func unnamed(template *v1beta2.ModuleTemplate) error {
	return &Error{
		Reason: ReasonUnlocated, Remedy: "set spec.ocmComponentName of the module's ModuleReleaseMeta",
		Err: fmt.Errorf("the component of ModuleTemplate %s is not named", template.Name),
	}
}

func foreignSource(name string) error {
	return &Error{
		Reason: ReasonUnsupported, Remedy: "kyma diff compares what is installed from a registry",
		Err: fmt.Errorf("%s is not installed from a layer of a registry, and other sources are not read here", name),
	}
}

func unknownFormat(name, format string) error {
	return &Error{
		Reason: ReasonUnsupported, Remedy: "use a newer version of this program",
		Err: fmt.Errorf("%s has the format %q, which is not known here", name, format),
	}
}

// explain gives an error the registry that was asked, who named it, and the remedy. It returns the error of a context that was cancelled as
// it is.
func (l *Loader) explain(ctx context.Context, at place, err error) error {
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	made := &Error{Reason: descriptor.ReasonOf(err), Host: at.host(), Err: err}
	if made.Reason == "" {
		made.Reason = content.ReasonOf(err)
	}
	named := fmt.Sprintf("registry %s, which %s names,", at.host(), at.From)
	if at.From == "you" {
		named = "registry " + at.host()
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		made.Reason, made.Remedy = ReasonTimeout, "try again; a slow registry may have a mirror, see --registry"
		made.Err = fmt.Errorf("%s did not serve component %s:%s in time", named, at.name, at.version)
	case made.Reason == descriptor.ReasonUnreachable:
		made.Remedy = "try it where the registry can be reached, or name its address as this machine sees it with --registry"
		made.Err = fmt.Errorf("%s does not answer this machine: %w", named, err)
	case made.Reason == descriptor.ReasonUnauthorized:
		made.Remedy = "docker login " + at.host() + ", or give a user and a password"
		made.Err = fmt.Errorf("%s does not let you read component %s:%s: %w", named, at.name, at.version, err)
	case made.Reason == descriptor.ReasonNotFound, made.Reason == content.ReasonContentNotFound:
		made.Remedy = "publish the version there, or name the registry that has it with --registry"
	case errors.Is(err, errTooMany):
		made.Reason = content.ReasonContentTooLarge
		made.Err = fmt.Errorf("component %s:%s is not shown: %w", at.name, at.version, err)
	}
	return made
}
