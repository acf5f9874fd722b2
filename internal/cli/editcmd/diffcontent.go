package editcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/changetext"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/contentflags"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// contentDiff compares what two versions of a managed module install in one Kyma.
type contentDiff struct {
	*differing
	session *session
	flags   contentflags.Flags
	loader  *versioncontent.Loader
	release *v1beta2.ModuleReleaseMeta
	// manifest is what is installed, next what the entry leads to; nil for none.
	manifest, next *v1beta2.Manifest
}

// rendered returns what changes with another version, and what the cluster says to it. What cannot be read is said, and is no failure.
func (d *differing) rendered(ctx context.Context, s *session, name, installed, target string) (string, error) {
	template := s.Template(name, target)
	at := slices.IndexFunc(s.Releases, func(r v1beta2.ModuleReleaseMeta) bool { return r.Name == name })
	if template == nil || at < 0 {
		return "", nil
	}
	registry, _, _ := strings.Cut(strings.TrimPrefix(d.direct.registry, "oci://"), "//")
	if strings.HasPrefix(d.direct.registry, "http") {
		registry = d.direct.registry
	}
	c := &contentDiff{
		differing: d, session: s, release: &s.Releases[at], flags: contentflags.Flags{Registry: registry, Login: d.direct.login},
	}
	// A Manifest that may not be read, or is in another cluster, leaves the templates to compare.
	c.manifest, _ = releaseoutlook.ManifestOf(ctx, s, s.Kyma, name)
	c.next = releaseoutlook.NextManifest(ctx, s, s.Kyma, name, c.manifest)
	var err error
	if c.loader, err = c.flags.Loader(ctx, d.console, s, s.Kyma.Namespace, name); err != nil {
		return "", err
	}
	defer func() { _ = c.loader.Close() }() // a folder in the temporary folder is all that could be left
	var text strings.Builder
	if err := c.write(ctx, &text, installed, template); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		c.warn("what the versions install is not compared", err)
	}
	return text.String(), nil
}

func (c *contentDiff) write(ctx context.Context, to *strings.Builder, installed string, template *v1beta2.ModuleTemplate) error {
	after, err := c.loader.LoadFor(ctx, c.release, template, c.next)
	if err != nil {
		return err
	}
	c.checkPending(after)
	var before *releasepreview.Side
	title := "WHAT IS INSTALLED with " + after.Version
	if installed != "" {
		had, err := c.installed(ctx, installed)
		if err != nil {
			return err
		}
		before, title = had, fmt.Sprintf("WHAT CHANGES from %s to %s", installed, after.Version)
	}
	side := releaseoutlook.SideOf(after)
	if caveats := releaseoutlook.CaveatsOf(before, side); caveats != "" {
		c.console.Sayf("Warning: what is compared is %s.", console.OneLine(caveats))
	}
	changes := releasepreview.Compare(before, side)
	fmt.Fprintf(to, "\n%s\n", title)
	changetext.Write(to, &changes, c.all)
	return c.writeAnswer(ctx, to, template)
}

// installed renders what is installed: by its Manifest, else by its template.
func (c *contentDiff) installed(ctx context.Context, version string) (*releasepreview.Side, error) {
	template := c.session.Template(c.release.Name, version)
	switch {
	case c.manifest != nil && c.manifest.Spec.Version == version:
		return releaseoutlook.SideOfManifest(ctx, c.loader, c.release, template, c.manifest)
	case c.session.Republished(c.release.Name):
		return nil, fmt.Errorf("%s was published again, and only its Manifest, which cannot be read here, says what is installed", version)
	case template == nil:
		return nil, fmt.Errorf("there is no ModuleTemplate of version %s", version)
	}
	found, err := c.loader.LoadFor(ctx, c.release, template, c.next)
	if err != nil {
		return nil, err
	}
	return releaseoutlook.SideOf(found), nil
}

// checkPending tells where the registry has other content by now than the version that waits for consent.
func (c *contentDiff) checkPending(after *versioncontent.Version) {
	known := c.session.StatusOf(c.release.Name)
	if known == nil || !modulestatus.Awaits(known.Pending) || known.Pending.Version != after.Version || known.Pending.Digest == "" {
		return
	}
	if waits := revision.Reference(known.Pending.Version, known.Pending.Digest); waits != after.Reference() {
		c.console.Sayf("Warning: %s waits for consent, and the registry holds %s by now, or other values of the Kyma's entry wait with it: "+
			"what is shown is not what was asked about.", waits, after.Reference())
	}
}

// writeAnswer writes what the cluster says, against what stands there.
func (c *contentDiff) writeAnswer(ctx context.Context, to *strings.Builder, template *v1beta2.ModuleTemplate) error {
	config, err := c.target.Config()
	if err != nil {
		return err
	}
	at := releaseoutlook.Runtime{Hub: c.session, HubConfig: config, Kyma: c.session.Kyma}
	answer, err := releaseoutlook.Ask(ctx, at, c.loader, c.release, template)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.warn("what stands in the cluster is not compared", err)
		return nil
	}
	c.answer = &answer
	fmt.Fprintf(to, "\nWHAT THE CLUSTER SAYS, by a dry run against what stands there\n")
	changetext.WriteAnswer(to, &answer, c.all)
	return nil
}

func (c *contentDiff) warn(what string, err error) {
	text := console.OneLine(err.Error())
	if failure, ok := errors.AsType[*console.Failure](c.flags.Explain(err)); ok {
		if text = console.OneLine(failure.Error()); failure.Hint != "" {
			text += " (" + failure.Hint + ")"
		}
	}
	c.console.Sayf("Warning: %s: %s", what, text)
}
