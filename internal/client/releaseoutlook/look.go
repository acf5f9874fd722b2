package releaseoutlook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubsettings"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// maxRendered is how many distinct pairs of versions are rendered and compared: those that most Kymas have.
const maxRendered = 5

// Question is a change of what a channel offers.
type Question struct {
	// Hub is read as the user.
	Hub client.Reader
	// Release of the module, and its Rollout, nil for none.
	Release *v1beta2.ModuleReleaseMeta
	Rollout *v1beta2.ModuleRollout
	// Channel that would offer the Version.
	Channel, Version string
	// Loader reads versions, and Settings are those of the hub's manager.
	Loader   *versioncontent.Loader
	Settings hubsettings.Settings
	// Now is the time, and Names is how many Kymas of a group are named; 0 means all.
	Now   time.Time
	Names int
}

// PairChanges is what changes for the Kymas that take the same step.
type PairChanges struct {
	// Kymas that take it. It is 0 for the step from what the channel offers now, where no Kyma has that.
	Kymas int `json:"kymas"`
	releasepreview.Changes
}

// Outlook is what would happen.
type Outlook struct {
	Namespace string `json:"namespace"`
	releasepreview.Result
	// Changes of each distinct step, those of most Kymas first.
	Changes []PairChanges `json:"changes"`
	// Unrendered says in sentences which steps are not compared, or not as they would be, and why; Failures are the errors behind it.
	Unrendered []string `json:"unrendered,omitempty"`
	Failures   []error  `json:"-"`
}

// Differs reports whether the channel would offer another version than now.
func (o *Outlook) Differs() bool { return o.Offered != o.Version }

// UnreadError is a kind that must be read for an answer.
type UnreadError struct{ Unread modulestatus.Unread }

// Error says what could not be read, and why.
func (e *UnreadError) Error() string { return e.Unread.Message() }

// Look returns what would happen. The error is an *UnreadError, a *releasepreview.UnknownModuleError, a *NoTemplateError, or that of the
// hub.
func Look(ctx context.Context, q Question) (Outlook, error) {
	l := &looking{Question: q}
	if err := l.read(ctx); err != nil {
		return Outlook{}, err
	}
	template := l.template(q.Version)
	if template == nil {
		return Outlook{}, &NoTemplateError{q.Release.Name, q.Version, q.Release.Namespace}
	}
	target, err := q.Loader.Load(ctx, q.Release, template)
	if ctx.Err() != nil {
		return Outlook{}, ctx.Err()
	}
	if err != nil {
		l.unrenderedf(err, "what changes is not shown: %v", err)
	}
	forecast, err := l.forecast(target)
	if err != nil {
		return Outlook{}, err
	}
	result := forecast.Foresee(l.members)
	l.made.Namespace, l.made.Result = q.Release.Namespace, result
	if target != nil {
		if l.compare(ctx, target); len(l.changes) > 0 {
			// What the steps change is known now, and so whether consent to it is needed.
			if forecast, err = l.forecast(target); err != nil {
				return Outlook{}, err
			}
			result = forecast.Foresee(l.members)
		}
	}
	if unread := q.Settings.Unread; len(unread) > 0 {
		result.Unknown = append(result.Unknown, strings.Join(unread, "; ")+
			": what begins at once does so unless a maintenance window or an approval policy holds it")
	}
	if caveats := versioncontent.Caveats(l.caveats...); caveats != "" {
		l.made.Unrendered = append(l.made.Unrendered, "what changes is "+caveats)
	}
	l.made.Result = result
	return l.made, ctx.Err()
}

// NoTemplateError is a version that no cluster could install.
type NoTemplateError struct{ Module, Version, Namespace string }

// Error names the template that is missing.
func (e *NoTemplateError) Error() string {
	return fmt.Sprintf("there is no ModuleTemplate %s in namespace %s: no cluster could install version %s",
		module.TemplateName(e.Module, e.Version), e.Namespace, e.Version)
}

// looking is one call of Look.
type looking struct {
	Question
	hub     modulestatus.Inputs
	members []releasepreview.Member
	made    Outlook
	// caveats say how the compared versions are rendered otherwise than by the lifecycle manager.
	caveats [][]string
	// changes are what the compared steps change.
	changes map[module.ChangeKey]module.Change
	// byDigest are the Manifests by their content; filled when it is needed first.
	byDigest map[string]*v1beta2.Manifest
}

// read reads the hub.
func (l *looking) read(ctx context.Context) error {
	var err error
	if l.hub, err = statusreader.ReadOutlook(ctx, l.Hub, l.Release); err != nil {
		return err
	}
	for _, unread := range l.hub.Unread {
		return &UnreadError{unread}
	}
	of := map[string][]v1beta2.Manifest{}
	for i := range l.hub.Manifests {
		name := module.KymaName(&l.hub.Manifests[i])
		of[name] = append(of[name], l.hub.Manifests[i])
	}
	for i := range l.hub.Kymas {
		kyma := &l.hub.Kymas[i]
		l.members = append(l.members, releasepreview.Member{Kyma: kyma, Manifests: of[kyma.Name]})
	}
	return nil
}

func (l *looking) template(version string) *v1beta2.ModuleTemplate {
	for i := range l.hub.Templates {
		if l.hub.Templates[i].Name == module.TemplateName(l.Release.Name, version) {
			return &l.hub.Templates[i]
		}
	}
	return nil
}

func (l *looking) forecast(target *versioncontent.Version) (*releasepreview.Forecast, error) {
	decides := &releasepreview.Hub{
		Releases: l.hub.Releases, Templates: l.hub.Templates, Rollout: l.Rollout, Now: l.Now, Names: l.Names,
		Windows: l.Settings.Windows, WindowsKnown: l.Settings.WindowsKnown, Approvals: l.Settings.Approvals, Changes: l.changes,
		Restricted: l.Settings.Restricted, RestrictedKnown: l.Settings.Known,
	}
	if target != nil {
		component := target.Component()
		decides.Component = &component
	}
	return releasepreview.NewForecast(decides, releasepreview.Request{Module: l.Release.Name, Channel: l.Channel, Version: l.Version})
}

// unrenderedf records an error that leaves a part out.
func (l *looking) unrenderedf(err error, format string, args ...any) {
	l.made.Unrendered = append(l.made.Unrendered, fmt.Sprintf(format, args...))
	l.made.Failures = append(l.made.Failures, err)
}
