package editcmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// setRelease returns the command that has Kymas follow a KymaRelease.
func setRelease(c *change) *cobra.Command {
	var none bool
	command := &cobra.Command{
		Use:   "set-release [NAME] RELEASE",
		Short: "Set the release of a Kyma",
		Long: "Sets the KymaRelease that says which versions the modules of a Kyma have, unless they name a channel or a version of\n" +
			"their own. --none takes it away: the modules follow channels again. --selector, --state, --on-channel, --with-module\n" +
			"and --all-kymas select many Kymas. A release that lacks a module of the Kyma is refused, as is a lower version.",
		Example: "  kyma kyma set-release 2.2\n  kyma kyma set-release demo 2.2 --dry-run=client\n" +
			"  kyma kyma set-release 2.2 --selector ring=canary\n  kyma kyma set-release demo --none",
		Args: names(0, 2, "[NAME] RELEASE"),
		ValidArgsFunction: func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			found := c.completeReleases(command.Context())
			if len(args) == 0 {
				more, _ := c.target.CompleteKymas(command, args, text)
				found = append(found, more...)
			}
			return found, nothing
		},
		RunE: func(command *cobra.Command, args []string) error {
			release, err := c.releaseArgs(args, none)
			if err != nil {
				return err
			}
			return c.runSetRelease(command.Context(), release)
		},
	}
	command.Flags().BoolVar(&none, "none", false, "no release: the modules follow channels")
	c.flags(command)
	c.bulkFlag(command)
	return command
}

// releaseArgs returns the release that the arguments name, and sets the Kyma that they name.
func (c *change) releaseArgs(args []string, none bool) (release string, err error) {
	switch {
	case none && len(args) == 2:
		return "", console.Usage("--none and a release exclude each other")
	case !none && len(args) == 0:
		return "", console.Usage("kyma kyma set-release: RELEASE is missing").With("--none takes the release away")
	case !none:
		release, args = args[len(args)-1], args[:len(args)-1]
	}
	if len(args) == 1 && c.kyma == "" {
		c.kyma = args[0]
	}
	return release, nil
}

func (c *change) runSetRelease(ctx context.Context, release string) error {
	many, err := c.many()
	switch {
	case err != nil:
		return err
	case many:
		return c.setReleaseBulk(ctx, release)
	}
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Load(ctx, s); err != nil {
		return err
	}
	found, err := releaseIn(ctx, s, s.Kyma.Namespace, release)
	if err != nil {
		return err
	}
	if err := s.mayRelease(release, found); err != nil {
		return err
	}
	done, err := c.apply(ctx, s, func(kyma *v1beta2.Kyma) ([]kymaedit.Change, error) {
		return []kymaedit.Change{kymaedit.SetRelease(&kyma.Spec, release)}, nil
	})
	if err != nil || !c.wait || c.dry() {
		return err
	}
	return c.awaitKyma(ctx, s, done.After.Generation)
}

// setReleaseBulk sets the release of many Kymas. It is read once for each of their namespaces.
func (c *change) setReleaseBulk(ctx context.Context, release string) error {
	b, err := c.openBulk(ctx, true)
	if err != nil {
		return err
	}
	b.doing, b.question = "setting release "+release+" in", "Set release "+release+" in"
	if release == "" {
		b.doing, b.question = "taking the release away from", "Take the release away from"
	}
	found := map[string]*v1beta2.KymaRelease{}
	for _, namespace := range namespacesOf(b.kymas) {
		if found[namespace], err = releaseIn(ctx, b.cluster, namespace, release); err != nil {
			return err
		}
	}
	return b.carryOut(ctx, b.edits(ctx, func(s *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
		if err := s.mayRelease(release, found[kyma.Namespace]); err != nil {
			return nil, "", err
		}
		changes := []kymaedit.Change{kymaedit.SetRelease(&kyma.Spec, release)}
		switch {
		case anyChange(changes):
			return changes, described(changes, &kyma.Spec), nil
		case release == "":
			return changes, "names no release", nil
		}
		return changes, "names release " + release + " already", nil
	}, nil))
}

// releaseIn reads a release of a namespace; nil when there is none, or none is named.
func releaseIn(ctx context.Context, reader client.Reader, namespace, release string) (*v1beta2.KymaRelease, error) {
	if release == "" {
		return nil, nil
	}
	return kymaedit.LoadRelease(ctx, reader, client.ObjectKey{Namespace: namespace, Name: release})
}

// mayRelease returns an error if a release, or the channels without one, do not have a module that would follow them.
func (s *session) mayRelease(name string, release *v1beta2.KymaRelease) error {
	switch {
	case name == "":
		channels := &session{s.WithWatch, s.KymaContext}
		channels.Asked.Release = ""
		return channels.mayFollow(s.Asked.Channel)
	case release == nil:
		return console.NotFound("there is no KymaRelease %s in namespace %s", name, s.Kyma.Namespace).
			With("kyma kyma releases shows those that there are")
	}
	return judged(s.MayRelease(release))
}

// completeReleases completes the releases beside the Kymas of the target's namespace.
func (c *change) completeReleases(ctx context.Context) []string {
	cluster, err := c.target.Client()
	if err != nil {
		return nil
	}
	namespace, explicit, err := c.target.Namespace()
	if err != nil {
		return nil
	}
	if !explicit {
		namespace = ""
	}
	var list v1beta2.KymaReleaseList
	if err := cluster.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var found []string
	for i := range list.Items {
		found = append(found, list.Items[i].Name)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
