package authorcmd

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
)

// sources holds the flags that select what is published.
type sources struct {
	config, from, name, version string
	resources, labels           []string
	gitDir, gitRemote           string
	schema                      string
	noGit                       bool

	extras []extra // the content that resources names, once it was read
}

// extra is one further content of a component, and its file.
type extra struct {
	component.Resource
	file string
}

// schemas are the forms that a descriptor can have.
var schemas = map[string]string{
	"": descriptor.SchemaV2, "v2": descriptor.SchemaV2, "v3alpha1": descriptor.SchemaV3Alpha1,
	descriptor.SchemaV3Alpha1: descriptor.SchemaV3Alpha1,
}

func (s *sources) addFlags(command *cobra.Command) {
	flags := command.Flags()
	s.addConfig(flags)
	flags.StringVar(&s.from, "from", "", "begin with this image (HOST/PATH:TAG) or component version (REF), and add to it")
	flags.StringVar(&s.name, "name", "", "name of the component, where there is no configuration")
	flags.StringVar(&s.version, "version", "", "version of the component, where there is no configuration")
	flags.StringArrayVar(&s.resources, "resource", nil, "further content: NAME=FILE or NAME[:TYPE]@FILE (can be repeated)")
	flags.StringArrayVar(&s.labels, "label", nil, "label of the component: NAME=VALUE (can be repeated)")
	flags.StringVar(&s.gitDir, "git-dir", "", "directory in the git repository whose commit is noted (default that of the configuration)")
	flags.StringVar(&s.gitRemote, "git-remote", packaging.DefaultRemote, "remote whose URL is noted")
	flags.BoolVar(&s.noGit, "no-git", false, "note no git repository")
	flags.StringVar(&s.schema, "schema", "", "form of the descriptor: v2 (the default) or v3alpha1")
	flags.StringVar(&s.gitDir, "module-sources-git-directory", "", "the same as --git-dir")
	flags.StringVar(&s.schema, "descriptor-version", "", "the same as --schema")
	hide(flags, "module-sources-git-directory", "descriptor-version")
}

func (s *sources) addConfig(flags *pflag.FlagSet) {
	flags.StringVarP(&s.config, "config-file", "c", "", "the module's configuration, or the directory that it is in (default \".\")")
	flags.StringVar(&s.config, "module-config-file", "", "the same as --config-file")
	hide(flags, "module-config-file")
}

// configFile returns the argument or the flag; empty if there is neither and a component is made without a configuration.
func (s *sources) configFile(args []string) (string, error) {
	if len(args) > 0 && s.config != "" {
		return "", console.Usage("%s and --config-file %s both name a module", args[0], s.config).With("use one of them")
	}
	switch {
	case len(args) > 0:
		return args[0], nil
	case s.config != "":
		return s.config, nil
	case s.from != "" && s.name != "":
		return "", nil
	}
	return ".", nil
}

// configFiles returns the modules that the arguments or the flag name.
func (s *sources) configFiles(args []string) ([]string, error) {
	if len(args) > 1 && s.config == "" {
		return args, nil
	}
	file, err := s.configFile(args)
	return []string{file}, err
}

// load reads a module, and returns an error after printing its findings if some are errors.
func (a *author) load(ctx context.Context, file string) (*packaging.Source, error) {
	source, findings, err := packaging.Load(ctx, file, &packaging.Fetcher{})
	if err != nil {
		return nil, missingConfig(file, err)
	}
	for _, f := range diagnostics.Sort(findings) {
		a.console.Sayf("%s", f)
	}
	if source == nil {
		wrong, _ := diagnostics.Count(findings)
		return nil, fmt.Errorf("the module cannot be read: it has %s that cannot be passed over", english.Plural(wrong, "error", ""))
	}
	return source, nil
}

func missingConfig(file string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return console.NotFound("%w", err).With("kyma module init DIR makes a module; --config-file names another one")
	}
	return fmt.Errorf("%s: %w", file, err)
}

// componentVersion returns the component version that the flags describe; source is nil if there is no configuration.
func (a *author) componentVersion(
	ctx context.Context, s *sources, source *packaging.Source, access component.Access,
) (version component.Version, err error) {
	version = component.Version{Name: s.name, Version: s.version}
	schema, known := schemas[s.schema]
	if !known {
		return version, console.Usage("--schema %s is unknown", s.schema).With("use v2 or v3alpha1")
	}
	if source != nil {
		if err := s.agree(source.Config); err != nil {
			return version, err
		}
		if version, err = source.ComponentVersion(ctx, a.gitSource(s, source)); err != nil {
			return version, err
		}
	}
	if s.from != "" {
		base, err := component.From(ctx, s.from, access)
		if err != nil {
			return version, fmt.Errorf("begin with %s: %w", s.from, err)
		}
		version = onTop(version, base)
	}
	if version.Provider == "" {
		version.Provider, _, _ = strings.Cut(version.Name, "/")
	}
	version.Schema = schema
	if err := s.readExtras(ctx); err != nil {
		return version, err
	}
	for _, more := range s.extras {
		version.Resources = append(version.Resources, more.Resource)
	}
	for _, text := range s.labels {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return version, console.Usage("--label %s is no label", text).With("write it as NAME=VALUE")
		}
		if version.Labels == nil {
			version.Labels = map[string]string{}
		}
		version.Labels[name] = value
		version.MoreLabels = slices.DeleteFunc(version.MoreLabels, func(l descriptor.Label) bool { return l.Name == name })
	}
	return version, nil
}

// agree refuses a name or a version that differs from the configuration's: one of the two would have no effect.
func (s *sources) agree(c *moduleconfig.Config) error {
	for _, pair := range [][3]string{{"name", s.name, c.Name}, {"version", s.version, c.Version}} {
		if pair[1] != "" && pair[1] != pair[2] {
			return console.Usage("--%s %s, and %s says %s", pair[0], pair[1], c.File, pair[2]).With("change it there, and leave out --%s", pair[0])
		}
	}
	return nil
}

// onTop returns a version completed by the content of a base that it does not have itself.
func onTop(version, base component.Version) component.Version {
	if version.Name == "" {
		version.Name = base.Name
	}
	if version.Version == "" {
		version.Version = base.Version
	}
	if version.Provider == "" {
		version.Provider, version.ProviderLabels = base.Provider, base.ProviderLabels
	}
	for name, value := range base.Labels {
		if _, own := version.Labels[name]; !own {
			if version.Labels == nil {
				version.Labels = map[string]string{}
			}
			version.Labels[name] = value
		}
	}
	for _, label := range base.MoreLabels {
		_, own := version.Labels[label.Name]
		if !own && !slices.ContainsFunc(version.MoreLabels, func(l descriptor.Label) bool { return l.Name == label.Name }) {
			version.MoreLabels = append(version.MoreLabels, label)
		}
	}
	if len(version.Sources) == 0 {
		version.Sources = base.Sources
	}
	resources := slices.DeleteFunc(slices.Clone(base.Resources), func(r component.Resource) bool {
		return slices.ContainsFunc(version.Resources, func(own component.Resource) bool { return own.Name == r.Name })
	})
	version.Resources = append(resources, version.Resources...)
	return version
}

// configure renders the module with the content of --resource config=FILE, as it will be installed.
func (s *sources) configure(ctx context.Context, source *packaging.Source) error {
	if err := s.readExtras(ctx); err != nil {
		return err
	}
	for i, more := range s.extras {
		if more.Name != descriptor.ResourceConfig {
			continue
		}
		if err := source.Configure(more.Data); err != nil {
			return console.Usage("--resource %s: %w", s.resources[i], err)
		}
	}
	return nil
}

// readExtras reads the files that --resource names. Each is read once: a pipe gives its content only once.
func (s *sources) readExtras(ctx context.Context) error {
	for _, text := range s.resources[len(s.extras):] {
		resource, file, err := readResource(ctx, text)
		if err != nil {
			return err
		}
		s.extras = append(s.extras, extra{resource, file})
	}
	return nil
}

// readResource reads NAME=FILE, or NAME[:TYPE]@FILE as in the old CLI, and returns the file, too.
func readResource(ctx context.Context, text string) (resource component.Resource, file string, err error) {
	head, file, ok := strings.Cut(text, "=")
	if before, after, old := strings.Cut(text, "@"); old && (!ok || len(before) < len(head)) {
		head, file, ok = before, after, true
	}
	name, kind, _ := strings.Cut(head, ":")
	if !ok || name == "" || file == "" {
		return resource, "", console.Usage("--resource %s is no resource", text).With("write it as NAME=FILE")
	}
	data, err := userfile.Read(ctx, file)
	if err != nil {
		return resource, "", fmt.Errorf("read resource %s: %w", name, err)
	}
	resource = component.Resource{Name: name, Type: kind, Data: data}
	switch extension := strings.ToLower(filepath.Ext(file)); extension {
	case ".yaml", ".yml":
	case ".tar":
		resource.MediaType = component.MediaTypeTar
	case ".tgz", ".gz":
		resource.MediaType = "application/gzip"
	case ".json":
		resource.MediaType = "application/json"
	default:
		resource.MediaType = "application/octet-stream"
		if known, _, err := mime.ParseMediaType(builtinTypes[extension]); err == nil {
			resource.MediaType = known
		}
	}
	return resource, file, nil
}

// builtinTypes are fixed: media types of the machine would make the result depend on it.
var builtinTypes = map[string]string{".txt": "text/plain", ".md": "text/markdown", ".html": "text/html", ".svg": "image/svg+xml"}

// gitSource returns the commit that a module is made from. If there is none that is meaningful to others, a message says so, and it is
// left out.
func (a *author) gitSource(s *sources, source *packaging.Source) *packaging.GitSource {
	if s.noGit {
		return nil
	}
	dir := s.gitDir
	if dir == "" {
		dir = filepath.Dir(source.Config.File)
	}
	found, err := packaging.ReadGit(dir, s.gitRemote)
	if err != nil {
		a.console.Sayf("The component version names no sources: %v.", err)
		return nil
	}
	return found
}
