package asks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/contentflags"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// Answer is what a version asks for.
type Answer struct {
	Module, Version string
	// Reference is what consent names, for the content that was read; empty when only the status of the Kyma is known.
	Reference string
	// Source is where the content was read; empty when only the status of the Kyma is known.
	Source string
	// Report is what the version may do.
	Report permissions.Report
	// Against is the version that it was compared with, and Difference how they differ; nil where nothing was compared.
	Against    string
	Difference *permissions.Difference
	// Pending is what the status says of the version; nil when it does not wait for consent.
	Pending *v1beta2.PendingVersion
	// Notes are what a user must know about the answer, in sentences.
	Notes []string
}

// FromStatus reports whether the content could not be read.
func (a *Answer) FromStatus() bool { return a.Source == "" }

// Question is what an Answer is about.
type Question struct {
	Module, Version string
	// Against is the version to compare with; empty for none.
	Against string
}

// Reader reads versions. Set Console before the first call.
type Reader struct {
	Console *console.Console
	// Timeout of one version; 0 means that of package versioncontent.
	Timeout time.Duration

	flags contentflags.Flags
}

// AddFlags adds the flags that say where the content is, and how to log in there.
func (r *Reader) AddFlags(flags *pflag.FlagSet) { r.flags.Add(flags) }

// Read answers a question about a Kyma whose catalog is loaded. A version whose content cannot be read is answered from the status, where
// it waits for consent; otherwise that is the error.
func (r *Reader) Read(ctx context.Context, from client.Reader, s *kymaedit.KymaContext, ask Question) (Answer, error) {
	answer := Answer{Module: ask.Module, Version: ask.Version}
	if pending := modulestatus.PendingOf(s.Kyma, ask.Module); modulestatus.Awaits(pending) && pending.Version == ask.Version {
		answer.Pending = pending
	}
	err := r.content(ctx, from, s, ask, &answer)
	switch {
	case err == nil || ctx.Err() != nil:
		return answer, err
	case answer.Pending == nil:
		return answer, r.flags.Explain(err)
	}
	answer.notef("The content of %s %s cannot be read from here: %v. This is what the lifecycle manager says of it.",
		ask.Module, ask.Version, err)
	return answer, nil
}

func (a *Answer) notef(format string, values ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, values...))
}

// content fills in what the content of both versions shows.
func (r *Reader) content(ctx context.Context, from client.Reader, s *kymaedit.KymaContext, ask Question, into *Answer) error {
	template := s.Template(ask.Module, ask.Version)
	if template == nil {
		return console.NotFound("there is no ModuleTemplate of %s %s in namespace %s", ask.Module, ask.Version, s.Kyma.Namespace)
	}
	loader, err := r.flags.Loader(ctx, r.Console, from, s.Kyma.Namespace, ask.Module)
	if err != nil {
		return err
	}
	defer func() { _ = loader.Close() }()
	loader.Timeout = r.Timeout
	// A Manifest that may not be read, or is in another cluster, leaves the registry to say what there is.
	manifest, _ := releaseoutlook.ManifestOf(ctx, from, s.Kyma, ask.Module)
	next := releaseoutlook.NextManifest(ctx, from, s.Kyma, ask.Module, manifest)
	found, err := loader.LoadFor(ctx, releaseOf(s, ask.Module), template, next)
	if err != nil {
		return err
	}
	into.Reference, into.Source = found.Reference(), found.Source
	into.Report = found.Rights()
	if caveats := versioncontent.Caveats(found.Caveats); caveats != "" {
		into.notef("The content of %s %s is %s.", ask.Module, ask.Version, caveats)
	}
	if waits := into.Pending; waits != nil && revision.Reference(waits.Version, waits.Digest) != into.Reference {
		into.notef("%s now holds other content than what waits for consent (%s), or that comes with other values of the Kyma's entry: "+
			"this list is not about that.", found.Source, waits.Digest)
	}
	if ask.Against == "" {
		return nil
	}
	before, err := r.before(ctx, loader, s, ask, manifest, next)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		into.notef("It is not compared with version %s: %v.", ask.Against, err)
		return nil
	}
	difference := permissions.Compare(before.Rights(), into.Report)
	into.Against, into.Difference = ask.Against, &difference
	return nil
}

var (
	// errNoTemplate reports a version that the catalog no longer has.
	errNoTemplate = errors.New("there is no ModuleTemplate of it here")
	// errRepublished reports an installed version that the registry has with other content.
	errRepublished = errors.New("it was published again, and only its Manifest, which cannot be read here, says what is installed")
)

// before reads the version to compare with: what the Manifest installs, or else what the registry holds, with the values of the next one.
func (r *Reader) before(
	ctx context.Context, loader *versioncontent.Loader, s *kymaedit.KymaContext, ask Question, manifest, next *v1beta2.Manifest,
) (*versioncontent.Version, error) {
	if manifest != nil && manifest.Spec.Version == ask.Against {
		if found, err := loader.LoadManifest(ctx, manifest); err == nil || ctx.Err() != nil {
			return found, err
		}
	}
	if s.Republished(ask.Module) && ask.Against == s.InstalledVersion(ask.Module) {
		return nil, errRepublished
	}
	template := s.Template(ask.Module, ask.Against)
	if template == nil {
		return nil, errNoTemplate
	}
	return loader.LoadFor(ctx, releaseOf(s, ask.Module), template, next)
}

func releaseOf(s *kymaedit.KymaContext, name string) *v1beta2.ModuleReleaseMeta {
	for i := range s.Releases {
		if s.Releases[i].Name == name {
			return &s.Releases[i]
		}
	}
	return nil
}
