package authorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// releaseText returns the ModuleReleaseMeta with the new version, and its file.
func (a *author) releaseText(
	ctx context.Context, c *creation, source *packaging.Source, namespace string,
) (text []byte, file string, err error) {
	channel := c.channel
	if channel == "" {
		channel = source.Config.Channel
	}
	switch file = c.release; {
	case file != "":
	case isStream(c.template):
		file = c.template
	default:
		file = a.releaseBeside(ctx, c.template, source.Config.ModuleName())
	}
	if !isStream(file) {
		there, err := userfile.Read(ctx, file)
		if err == nil {
			text, err = a.releaseWith(file, there, source, channel)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return text, file, err
		}
	}
	if channel == "" {
		channel = v1beta2.DefaultChannel
	}
	text, err = packaging.Encode(packaging.ReleaseMeta(source.Config, channel, namespace))
	return text, file, err
}

// releaseBeside returns the file for a ModuleReleaseMeta if none was named: release.yaml beside the template or, if that belongs to
// another module, since several modules may be made in one folder, a file with the module's name.
func (a *author) releaseBeside(ctx context.Context, template, module string) string {
	file := filepath.Join(filepath.Dir(template), "release.yaml")
	there, err := userfile.Read(ctx, file)
	if err != nil {
		return file // its use reports what is wrong with it
	}
	var others *packaging.OtherModulesError
	if _, err := packaging.ParseReleaseFile(file, there, module); !errors.As(err, &others) {
		return file
	}
	own := filepath.Join(filepath.Dir(template), "release-"+module+".yaml")
	a.console.Sayf("%s belongs to %s: the ModuleReleaseMeta of %s is written to %s.", file, strings.Join(others.Has, ", "), module, own)
	return own
}

// releaseWith changes an existing ModuleReleaseMeta, if a channel was named.
func (a *author) releaseWith(file string, text []byte, source *packaging.Source, channel string) ([]byte, error) {
	there, err := packaging.ParseReleaseFile(file, text, source.Config.ModuleName())
	if err != nil {
		return nil, err
	}
	offered := slices.ContainsFunc(there.Meta.Spec.Channels, func(o v1beta2.ChannelVersion) bool { return o.Version == source.Config.Version })
	switch {
	case there.Meta.Spec.Mandatory != nil:
		return a.mandatory(file, there, source)
	case channel == "" && offered:
		return text, nil
	case channel == "":
		a.console.Sayf("%s stays as it is: kyma release set or promote lets a channel offer %s.", file, source.Config.Version)
		return text, nil
	}
	wanted := []v1beta2.ChannelVersion{{Channel: channel, Version: source.Config.Version}}
	moves, err := packaging.Moves(there.Meta.Spec.Channels, wanted)
	if err != nil {
		return nil, err
	}
	if moves[0].Downgrade {
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"channel %s offers %s already, which is higher than %s", channel, moves[0].From, moves[0].To)}).
			With("kyma release set --allow-downgrade lowers it; leave out --channel to publish the version alone")
	}
	err = there.Move(moves)
	return there.Text, err
}

// mandatory leaves a file without channels unchanged.
func (a *author) mandatory(file string, there *packaging.ReleaseFile, source *packaging.Source) ([]byte, error) {
	if there.Meta.Spec.Mandatory.Version != source.Config.Version {
		a.console.Sayf("%s stays as it is: its module is mandatory in version %s. To have %s everywhere, write that into spec.mandatory.version.",
			file, there.Meta.Spec.Mandatory.Version, source.Config.Version)
	}
	return there.Text, nil
}
