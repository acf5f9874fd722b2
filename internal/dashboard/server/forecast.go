package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

const (
	// forecastLasts is how long a forecast is kept: Kymas change meanwhile.
	forecastLasts = time.Minute
	// namedKymas is how many Kymas of one outcome are named.
	namedKymas = 5
)

// forecast is what would happen if a channel offered another version.
type forecast struct {
	State reviewState `json:"state"`
	// Step is what is being done.
	Step string `json:"step,omitempty"`
	// Problem is why what changes cannot be read; what becomes of the Kymas is known nevertheless.
	Problem *unreadable `json:"problem"`
	Module  string      `json:"module"`
	Channel string      `json:"channel"`
	Version string      `json:"version"`
	Limits  string      `json:"limits"`
	// Result is what becomes of the Kymas, and Changes is what changes for most of them.
	Result  *releasepreview.Result  `json:"result"`
	Changes *releasepreview.Changes `json:"changes"`
	Unread  []Unread                `json:"unread"`
}

// releaseForecast answers GET /api/v1/releases/{ns}/{name}/forecast?channel=&version=.
func (s *Server) releaseForecast(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "channel", "version"); err != nil {
		return nil, err
	}
	namespace, name, channel, version := r.PathValue("ns"), r.PathValue("name"), query.Get("channel"), query.Get("version")
	if !kymaedit.IsChannel(channel) || version == "" {
		return nil, fail(http.StatusBadRequest, WhyInvalid, "give channel= and version=: which channel would offer which version?")
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	release := now.release(namespace, name)
	switch {
	case release == nil && now.forbiddenKind("ModuleReleaseMeta"):
		return nil, mayNotRead(u, "the release "+clip(namespace+"/"+name, 200))
	case release == nil:
		return nil, fail(http.StatusNotFound, WhyNotFound, "there is no ModuleReleaseMeta %s", clip(namespace+"/"+name, 200))
	case now.templateIn(namespace, name, version) == nil:
		return nil, fail(http.StatusNotFound, WhyNotFound, "there is no ModuleTemplate %s in namespace %s: no cluster could install version %s",
			clip(packaging.TemplateName(name, version), 100), clip(namespace, 100), clip(version, 100))
	}
	is := forecast{
		State: reviewReading, Module: name, Channel: channel, Version: version, Limits: permissions.Limits, Unread: fleetUnread(now, namespace),
	}
	s.foretell(u, now.rollouts.in.RolloutOf(namespace, name), release, &is)
	return is, nil
}

// fleetUnread returns the kinds that a forecast needs and that the user may not list in the namespace.
func fleetUnread(now *snapshot, namespace string) []Unread {
	left := []Unread{}
	for _, one := range now.unread {
		if one.Namespace == "" || one.Namespace == namespace {
			left = append(left, one)
		}
	}
	return slices.DeleteFunc(left, func(one Unread) bool {
		return one.Kind != "Kyma."+ownGroup && one.Kind != "Manifest."+ownGroup
	})
}

// foretell fills in how far the forecast is, and begins it.
func (s *Server) foretell(u *User, rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, is *forecast) {
	key := "forecast " + u.Name + " " + release.Namespace + "/" + release.Name + " " + release.ResourceVersion + " " +
		is.Channel + " " + is.Version
	got := look(s.jobs, key, u.Name, forecastLasts, func(ctx context.Context, say func(string)) (*releaseoutlook.Outlook, error) {
		return s.lookAhead(s.fetching(ctx), u, releaseoutlook.Question{
			Hub: u.Client, Release: release, Rollout: rollout, Channel: is.Channel, Version: is.Version, Now: s.options.Now(), Names: namedKymas,
		}, say)
	})
	switch is.Step = got.step; {
	case !got.done:
	case got.err != nil:
		is.State, is.Problem = reviewUnreadable, unreadOutlook(got.err)
	default:
		is.State, is.Result = reviewDone, &got.value.Result
		if len(got.value.Changes) > 0 {
			is.Changes = &got.value.Changes[0].Changes
		}
		if len(got.value.Failures) > 0 && is.Changes == nil {
			is.Problem = unread(got.value.Failures[0])
		}
	}
}

// lookAhead reads the versions and asks what becomes of every Kyma.
func (s *Server) lookAhead(ctx context.Context, u *User, ask releaseoutlook.Question, say func(string)) (*releaseoutlook.Outlook, error) {
	say("reading " + ask.Release.Name + " " + ask.Version + ", and what becomes of every Kyma")
	loader, settings, done, err := s.loaderFor(ctx, u, ask.Release.Namespace, ask.Release.Name)
	if err != nil {
		return nil, err
	}
	defer done()
	ask.Loader, ask.Settings = loader, settings
	found, err := releaseoutlook.Look(ctx, ask)
	if err != nil {
		return nil, err
	}
	for i := range found.Changes {
		trim(&found.Changes[i].Changes)
	}
	found.Unknown = append(found.Unknown, found.Unrendered...)
	return &found, nil
}

// unreadOutlook returns an error of a forecast as what pages show.
func unreadOutlook(err error) *unreadable {
	if forbidden, is := errors.AsType[*releaseoutlook.UnreadError](err); is {
		return &unreadable{Reason: WhyForbidden, Message: forbidden.Error(), Remedy: "ask an administrator of the cluster for permission"}
	}
	return unread(err)
}
