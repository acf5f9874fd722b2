package editcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// differing is one call of `kyma diff`.
type differing struct {
	*change
	direct  directFlags
	version string
	all     bool
	// answer is what the cluster said; nil where it was not asked, or did not answer.
	answer *releaseoutlook.Answer
}

func diff(c *change) *cobra.Command {
	d := &differing{change: c}
	command := &cobra.Command{
		Use:   "diff NAME[@VERSION|:CHANNEL]",
		Short: "Show what another version or channel of a module would change",
		Long: "Compares what is installed with what would be: the module's entry in the Kyma, and the ModuleTemplates of both versions. What\n" +
			"both versions install is read from the modules' registry and compared, too: rights, definitions, images, objects and the way back;\n" +
			"and the API server of the module's cluster is asked by a dry run against what stands there. Of a module that was installed\n" +
			"directly the objects in the cluster are compared with those of the version. The values of Secrets are never shown.\n\n" +
			"The exit code is 0 where there is no difference, 1 where there is one, and above 1 after a failure.",
		Example: "  kyma diff notes\n  kyma diff notes@1.2.0\n  kyma diff notes --version 1.2.0 --all\n" +
			"  kyma diff notes:fast --kyma kcp-system/demo",
		Args: func(command *cobra.Command, args []string) error {
			return console.AboveOne(names(1, 1, "NAME[@VERSION|:CHANNEL]")(command, args))
		},
		ValidArgsFunction: c.completeWishes,
		RunE: func(command *cobra.Command, args []string) error {
			differs, err := d.run(command.Context(), args[0])
			switch {
			case err != nil:
				return console.AboveOne(err)
			case differs:
				return console.Quiet(console.CodeError)
			}
			return nil
		},
	}
	c.kymaFlag(command)
	command.Flags().StringVar(&d.version, "version", "", "the version to compare with: the same as NAME@VERSION")
	command.Flags().BoolVar(&d.all, "all", false, "show everything that changes")
	d.direct.addSource(command.Flags())
	d.direct.addAgain(command.Flags(), c)
	d.direct.again.Dry = func() bool { return true } // it shows a difference, and writes nothing
	return command
}

func (d *differing) run(ctx context.Context, arg string) (bool, error) {
	wish, err := kymaedit.ParseWish(arg)
	if err != nil {
		return false, console.Usage("%w", err)
	}
	switch {
	case d.version == "":
	case wish.Version != "" || wish.Channel != "":
		return false, console.Usage("--version %s and %s exclude each other", d.version, arg)
	default:
		wish.Version = d.version
	}
	s, err := d.open(ctx)
	if err != nil && console.Code(err) != console.CodeNotFound {
		return false, err
	}
	cluster, clientErr := d.target.Client()
	if clientErr != nil {
		return false, clientErr
	}
	if there := err == nil && s.Has(wish.Name); !there && slices.Contains(d.directHere(ctx, cluster, s), wish.Name) {
		return d.direct.diff(ctx, d.change, wish)
	}
	if err != nil {
		return false, err
	}
	if err := s.Load(ctx, s); err != nil {
		return false, err
	}
	return d.compare(ctx, s, wish)
}

// compare writes the differences of the entry and the template.
func (d *differing) compare(ctx context.Context, s *session, wish kymaedit.ModuleRequest) (bool, error) {
	if err := s.check(&s.Asked, wish); err != nil {
		return false, err
	}
	after := s.Kyma.DeepCopy()
	if err := kymaedit.EditEffective(after, &s.Asked, func(kyma *v1beta2.Kyma) error {
		kymaedit.Enable(&kyma.Spec, wish)
		return nil
	}); err != nil {
		return false, err
	}
	text := kymaDiff(s.Kyma, after)

	installed := ""
	if known := s.StatusOf(wish.Name); known != nil {
		installed = known.Version
	}
	spec := modulestatus.Effective(after)
	target := s.Version(&spec, wish.Name)
	differs := installed != target || s.Republished(wish.Name)
	if differs {
		from, to := s.Template(wish.Name, installed), s.Template(wish.Name, target)
		text += unified(templateName(wish.Name, installed), templateName(wish.Name, target), shownTemplate(from), shownTemplate(to))
		would := cmp.Or(target, "an unknown version")
		if installed == target {
			would += " with other content"
		}
		d.console.Sayf("%s: %s is installed, %s would be.", wish.Name, cmp.Or(installed, "nothing"), would)
		if moduleversion.IsDowngrade(installed, target) {
			d.console.Sayf("The lifecycle manager would refuse that: it installs no lower version over a higher one.")
		}
		content, err := d.rendered(ctx, s, wish.Name, installed, target)
		if err != nil {
			return false, err
		}
		text += content
	}
	if _, err := fmt.Fprint(d.console.Out, text); err != nil {
		return false, err
	}
	return text != "" || differs, nil
}

func templateName(module, version string) string {
	if version == "" {
		return "/dev/null"
	}
	return "moduletemplate/" + module + "-" + version
}

// shownTemplate returns the part of a template that has an effect. The API's defaults and ignored fields are no difference.
func shownTemplate(template *v1beta2.ModuleTemplate) any {
	if template == nil {
		return nil
	}
	spec := template.Spec.DeepCopy()
	spec.Channel, spec.Descriptor.Raw, spec.Descriptor.Object = "", nil, nil
	slices.SortFunc(spec.Resources, func(a, b v1beta2.Named) int { return cmp.Compare(a.Name, b.Name) })
	return spec
}
