package authorcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// maxTemplate is above the size that an API server accepts.
const maxTemplate = 4 << 20

func (a *author) template() *cobra.Command {
	var s sources
	logins := logins()
	var output string
	command := &cobra.Command{
		Use:   "template [REF]",
		Short: "Write the ModuleTemplate of a component version or a module directory",
		Long: "template writes what a cluster needs to know of one version of a module: from the component " +
			"version alone, or from a module\n" +
			"directory with --config-file.",
		Example: "  kyma module template oci://ghcr.io/example//example.com/module/notes:0.1.0 | kubectl apply -f -\n" +
			"  kyma module template notes.tgz -o template.yaml --namespace kcp-system\n  kyma module template -c notes",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			var text []byte
			var err error
			switch {
			case len(args) == 1 && s.config != "":
				return console.Usage("a reference and --config-file both name a module").With("use one of them")
			case len(args) == 1:
				text, err = a.templateOf(command.Context(), args[0], &logins)
			default:
				text, err = a.templateHere(command.Context(), &s)
			}
			if err != nil {
				return withExitCode(logins.Explain(err, ""))
			}
			if output == standardOutput || userfile.IsStandardOutput(output) {
				_, err = a.console.Out.Write(text)
				return err
			}
			return a.writeFiles(command.Context(), map[string][]byte{output: text}, output)
		},
	}
	s.addConfig(command.Flags())
	logins.AddFlags(command.Flags())
	command.Flags().StringVarP(&output, "output", "o", standardOutput, "file to write; - is standard output")
	return command
}

// templateHere returns the ModuleTemplate of a module directory.
func (a *author) templateHere(ctx context.Context, s *sources) ([]byte, error) {
	file, err := s.configFile(nil)
	if err != nil {
		return nil, err
	}
	source, err := a.load(ctx, file)
	if err != nil {
		return nil, err
	}
	namespace, err := a.namespace(source.Config.Namespace)
	if err != nil {
		return nil, err
	}
	template, err := source.Template(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return packaging.Encode(template)
}

// templateOf returns the ModuleTemplate of a component version: the one that it contains, or one that is made from its content.
func (a *author) templateOf(ctx context.Context, text string, logins *registryauth.Options) (template []byte, err error) {
	ref, err := a.reference(text, logins)
	if err != nil {
		return nil, err
	}
	namespace, err := a.namespace("")
	if err != nil {
		return nil, err
	}
	err = opened(ctx, ref, func(found *component.Opened) error {
		made, err := templateIn(ctx, found, namespace)
		if err == nil {
			template, err = packaging.Encode(made)
		}
		return err
	})
	return template, err
}

// templateIn returns the ModuleTemplate that a component version contains, or one that is made from its content.
func templateIn(ctx context.Context, found *component.Opened, namespace string) (*v1beta2.ModuleTemplate, error) {
	return packaging.TemplateOf(ctx, found.Component, namespace, func(resource string) ([]byte, error) {
		content, _, err := found.Blob(ctx, resource)
		if err != nil {
			return nil, err
		}
		read, err := io.ReadAll(io.LimitReader(content, maxTemplate+1))
		if closing := content.Close(); err == nil {
			err = closing
		}
		if len(read) > maxTemplate {
			return nil, fmt.Errorf("resource %s has more than %d bytes", resource, maxTemplate)
		}
		return read, err
	})
}
