package authorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// releases is the place of a ModuleReleaseMeta: a file or a cluster.
type releases interface {
	// channels returns its channels.
	channels() []v1beta2.ChannelVersion
	// meta returns the whole object.
	meta() *v1beta2.ModuleReleaseMeta
	// template returns the ModuleTemplate of a version; nil if the place has no templates.
	template(ctx context.Context, version string) (*v1beta2.ModuleTemplate, error)
	// release returns the ModuleReleaseMeta of another module, nil if there is none; known is false if the place cannot tell.
	release(ctx context.Context, module string) (found *v1beta2.ModuleReleaseMeta, known bool, err error)
	// others returns the ModuleTemplates of what other modules offer in a channel, none if the place cannot tell.
	others(ctx context.Context, channel string) ([]v1beta2.ModuleTemplate, error)
	// known returns why a version cannot be offered; nil if it can.
	known(ctx context.Context, version string) error
	// write applies moves.
	write(ctx context.Context, moves []packaging.Move, dryRun bool) error
}

// releaseFlags are the flags that select that place.
type releaseFlags struct {
	file      string
	edits     bool // the file is written, too
	component string
	place     place
}

func (s *releaseFlags) addFlags(_ *author, command *cobra.Command) {
	s.edits = true
	command.Flags().StringVarP(&s.file, "file", "f", "", "file with the ModuleReleaseMeta; without it, the one in the cluster")
	s.place.addFlags(command.Flags())
	command.Flags().Lookup("registry").Usage = "registry that must have the version: oci://HOST[:PORT][/PATH]"
}

// open reads the ModuleReleaseMeta of a module. module may be empty for a file with a single one.
func (s *releaseFlags) open(ctx context.Context, a *author, module string) (releases, error) {
	if s.file == "" {
		return s.openCluster(ctx, a, module)
	}
	if s.edits {
		if err := userfile.Editable(s.file); err != nil {
			return nil, err
		}
	}
	text, err := userfile.Read(ctx, s.file)
	if errors.Is(err, fs.ErrNotExist) && s.component != "" {
		namespace, err := a.namespace("")
		if err != nil {
			return nil, err
		}
		if text, err = packaging.Encode(packaging.NewReleaseMeta(module, s.component, namespace)); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, console.NotFound("read the ModuleReleaseMeta: %w", err).
			With("kyma release set NAME CHANNEL=VERSION --file %s --component COMPONENT begins one", s.file)
	}
	found, err := packaging.ParseReleaseFile(s.file, text, module)
	if err != nil {
		return nil, err
	}
	return &fileReleases{ReleaseFile: found, lookup: s.lookup(a, found.Meta)}, nil
}

// lookup returns a function that checks whether the registry has a version, if a registry is named.
func (s *releaseFlags) lookup(a *author, meta *v1beta2.ModuleReleaseMeta) func(context.Context, string) error {
	return func(ctx context.Context, version string) error {
		if s.place.registry == "" {
			return nil
		}
		ref, err := s.place.ref(a, meta.Spec.OCMComponentName, version)
		if err != nil {
			return err
		}
		found, err := component.Open(ctx, ref)
		if descriptor.ReasonOf(err) == descriptor.ReasonNotFound {
			return console.NotFound("%s has no version %s of %s", s.place.registry, version, meta.Spec.OCMComponentName).
				With("kyma module create publishes it")
		}
		if err != nil {
			return s.place.login.Explain(err, s.place.registry)
		}
		return found.Close()
	}
}

// fileReleases is a ModuleReleaseMeta in a file.
type fileReleases struct {
	*packaging.ReleaseFile
	lookup func(context.Context, string) error
}

func (f *fileReleases) channels() []v1beta2.ChannelVersion { return f.Meta.Spec.Channels }

func (f *fileReleases) meta() *v1beta2.ModuleReleaseMeta { return f.Meta }

func (f *fileReleases) template(context.Context, string) (*v1beta2.ModuleTemplate, error) {
	return nil, nil //nolint:nilnil // a file has none
}

func (f *fileReleases) release(context.Context, string) (*v1beta2.ModuleReleaseMeta, bool, error) {
	return nil, false, nil // a file does not say what else is released
}

func (f *fileReleases) others(context.Context, string) ([]v1beta2.ModuleTemplate, error) {
	return nil, nil
}

func (f *fileReleases) known(ctx context.Context, version string) error {
	return f.lookup(ctx, version)
}

func (f *fileReleases) write(_ context.Context, moves []packaging.Move, dryRun bool) error {
	if f.Meta.Spec.Mandatory != nil {
		return fmt.Errorf("%s: module %s is mandatory and has no channels", f.Name, f.Meta.Name)
	}
	if err := f.Move(moves); err != nil || dryRun {
		return err
	}
	_, err := userfile.Replace(f.Name, f.Text)
	return err
}

// clusterReleases is a ModuleReleaseMeta in a cluster.
type clusterReleases struct {
	client client.Client
	found  *v1beta2.ModuleReleaseMeta
	fresh  bool
	lookup func(context.Context, string) error
}

func (s *releaseFlags) openCluster(ctx context.Context, a *author, module string) (releases, error) {
	reader, err := a.target.Client()
	if err != nil {
		return nil, err
	}
	namespace, err := a.namespace("")
	if err != nil {
		return nil, err
	}
	found := &v1beta2.ModuleReleaseMeta{}
	err = reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: module}, found)
	store := &clusterReleases{client: reader, found: found}
	switch {
	case apierrors.IsNotFound(err) && s.component != "":
		store.found, store.fresh = packaging.NewReleaseMeta(module, s.component, namespace), true
	case apierrors.IsNotFound(err):
		return nil, console.NotFound("there is no ModuleReleaseMeta %s in namespace %s", module, namespace).
			With("kyma release set --component COMPONENT begins one; --file reads a file; --namespace looks elsewhere")
	case err != nil:
		return nil, err
	}
	store.lookup = s.lookup(a, store.found)
	return store, nil
}

func (c *clusterReleases) channels() []v1beta2.ChannelVersion { return c.found.Spec.Channels }

func (c *clusterReleases) meta() *v1beta2.ModuleReleaseMeta { return c.found }

// template returns the ModuleTemplate with the name of the version.
func (c *clusterReleases) template(ctx context.Context, version string) (*v1beta2.ModuleTemplate, error) {
	found := &v1beta2.ModuleTemplate{}
	key := client.ObjectKey{Namespace: c.found.Namespace, Name: packaging.TemplateName(c.found.Name, version)}
	return found, c.client.Get(ctx, key, found)
}

func (c *clusterReleases) release(ctx context.Context, module string) (*v1beta2.ModuleReleaseMeta, bool, error) {
	found := &v1beta2.ModuleReleaseMeta{}
	err := c.client.Get(ctx, client.ObjectKey{Namespace: c.found.Namespace, Name: module}, found)
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	return found, err == nil, err
}

// others reads the templates of versions that other releases offer; a version without one can be installed nowhere, and breaks nothing.
func (c *clusterReleases) others(ctx context.Context, channel string) ([]v1beta2.ModuleTemplate, error) {
	var list v1beta2.ModuleReleaseMetaList
	err := c.client.List(ctx, &list, client.InNamespace(c.found.Namespace))
	if apierrors.IsForbidden(err) {
		return nil, nil // who may release one module need not see the others
	}
	if err != nil {
		return nil, err
	}
	var found []v1beta2.ModuleTemplate
	for i := range list.Items {
		offered := packaging.OfferedIn(&list.Items[i], channel)
		if offered == "" || list.Items[i].Name == c.found.Name {
			continue
		}
		template := v1beta2.ModuleTemplate{}
		key := client.ObjectKey{Namespace: c.found.Namespace, Name: packaging.TemplateName(list.Items[i].Name, offered)}
		err := c.client.Get(ctx, key, &template)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			found = append(found, template)
		}
	}
	return found, nil
}

func (c *clusterReleases) known(ctx context.Context, version string) error {
	_, err := c.template(ctx, version)
	if apierrors.IsNotFound(err) {
		return console.NotFound("there is no ModuleTemplate %s in namespace %s: no cluster could install version %s",
			packaging.TemplateName(c.found.Name, version), c.found.Namespace, version).
			With("kyma module template REF | kubectl apply -f - brings it")
	}
	if err != nil {
		return err
	}
	return c.lookup(ctx, version)
}

// write uses optimistic locking; on a conflict the moves are applied to the new version, as long as their channels still offer the
// version that was shown.
func (c *clusterReleases) write(ctx context.Context, moves []packaging.Move, dryRun bool) error {
	if c.found.Spec.Mandatory != nil {
		return fmt.Errorf("module %s is mandatory and has no channels", c.found.Name)
	}
	if c.fresh {
		c.found.Spec.Channels = packaging.Apply(nil, moves)
		var how []client.CreateOption
		if dryRun {
			how = append(how, client.DryRunAll)
		}
		return c.client.Create(ctx, c.found, how...)
	}
	var how []client.UpdateOption
	if dryRun {
		how = append(how, client.DryRunAll)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := c.client.Update(ctx, c.moved(moves), how...)
		if apierrors.IsConflict(err) {
			if reading := c.again(ctx, moves); reading != nil {
				return reading
			}
		}
		return err
	})
}

func (c *clusterReleases) moved(moves []packaging.Move) *v1beta2.ModuleReleaseMeta {
	changed := c.found.DeepCopy()
	changed.Spec.Channels = packaging.Apply(changed.Spec.Channels, moves)
	return changed
}

// again reads the new version, and returns an error if a channel has changed.
func (c *clusterReleases) again(ctx context.Context, moves []packaging.Move) error {
	if err := c.client.Get(ctx, client.ObjectKeyFromObject(c.found), c.found); err != nil {
		return err
	}
	for _, move := range moves {
		offered := ""
		for _, channel := range c.found.Spec.Channels {
			if channel.Channel == move.Channel {
				offered = channel.Version
			}
		}
		if offered != move.From && offered != move.To {
			return fmt.Errorf("channel %s was changed to %s meanwhile: check it and try again", move.Channel, offered)
		}
	}
	return nil
}
