package authorcmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// inspection is the output of inspect for programs.
type inspection struct {
	console.Versioned
	*component.Inspection
}

func (a *author) inspect() *cobra.Command {
	var trusts trusting
	logins := logins()
	output := console.OutputFlag(console.AllFormats...)
	command := &cobra.Command{
		Use:   "inspect REF",
		Short: "Show what a component version holds, and who signed it",
		Long: "inspect shows resources, images, digests, labels and signatures of a component version, and reads " +
			"no content. With --key or --cert\n" +
			"signatures are judged too. --resource writes the content of one resource to standard output instead.",
		Example: "  kyma module inspect notes.tgz\n" +
			"  kyma module inspect oci://ghcr.io/example//example.com/module/notes:0.1.0 --key public.pem -o yaml\n" +
			"  kyma module inspect notes.tgz --resource raw-manifest > manifest.yaml",
		Args: cobra.ExactArgs(1),
	}
	resource := command.Flags().String("resource", "", "write the content of this resource instead")
	trusts.addFlags(command.Flags())
	logins.AddFlags(command.Flags())
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	command.RunE = func(command *cobra.Command, args []string) error {
		trust, err := trusts.trust(command.Context())
		if err != nil {
			return err
		}
		ref, err := a.reference(args[0], &logins)
		if err != nil {
			return err
		}
		err = opened(command.Context(), ref, func(found *component.Opened) error {
			if *resource != "" {
				return a.writeBlob(command, found, *resource)
			}
			return a.printInspection(output.Format, found, trust)
		})
		return withExitCode(logins.Explain(err, ""))
	}
	return command
}

func (a *author) writeBlob(command *cobra.Command, found *component.Opened, resource string) error {
	var names []string
	for i := range found.Component.Resources {
		names = append(names, found.Component.Resources[i].Name)
	}
	if !slices.Contains(names, resource) {
		return console.NotFound("%s has no resource %s", found.Ref, resource).With("it has %s", strings.Join(names, ", "))
	}
	content, _, err := found.Blob(command.Context(), resource)
	if err != nil {
		return err
	}
	_, err = io.Copy(a.console.Out, content)
	if closing := content.Close(); err == nil {
		err = closing
	}
	return err
}

func (a *author) printInspection(format console.Format, found *component.Opened, trust *descriptor.Trust) error {
	seen, err := component.Inspect(found, trust, time.Now())
	if err != nil {
		return err
	}
	resources := console.Document{
		Data: inspection{console.Kind("ComponentInspection"), seen},
		Columns: []console.Column{
			{Name: "RESOURCE"}, {Name: "VERSION"}, {Name: "KIND"}, {Name: "CONTENT"}, {Name: "SIZE"},
			{Name: "COVERED"}, {Name: "DIGEST", Wide: true},
		},
		Empty: "It has no resources.",
	}
	for i := range seen.Resources {
		resources.Rows = append(resources.Rows, resourceRow(&seen.Resources[i]))
		resources.Names = append(resources.Names, "resource/"+seen.Resources[i].Name)
	}
	if format != console.Table && format != console.Wide {
		return a.console.Print(format, resources)
	}
	for i, document := range []console.Document{facts(seen), resources, signatures(seen)} {
		if i > 0 && len(document.Rows) > 0 {
			fmt.Fprintln(a.console.Out)
		}
		if err := a.console.Print(format, document); err != nil {
			return err
		}
	}
	return nil
}

func resourceRow(r *component.InspectedResource) []string {
	content, size := r.MediaType, ""
	if r.Image != "" {
		content = r.Image
	}
	if r.Size >= 0 {
		size = strconv.FormatInt(r.Size, 10)
	}
	covered := "no"
	if r.Covered {
		covered = "yes"
	}
	return []string{r.Name, r.Version, r.Kind, content, size, covered, r.Digest}
}

// facts returns the data about the component version as a whole.
func facts(seen *component.Inspection) console.Document {
	rows := [][]string{
		{"name", seen.Name}, {"version", seen.Version}, {"provider", seen.Provider}, {"digest", seen.Digest}, {"schema", seen.Schema},
	}
	for _, source := range seen.Sources {
		rows = append(rows, []string{"source", strings.TrimSpace(source.Repository + " " + source.Commit)})
	}
	for _, reference := range seen.References {
		rows = append(rows, []string{"reference", reference.Component + ":" + reference.Version})
	}
	for _, label := range seen.Labels {
		rows = append(rows, []string{"label", label.Name + "=" + strings.Trim(string(label.Value), `"`)})
	}
	return console.Document{Columns: []console.Column{{Name: "COMPONENT"}, {Name: "VALUE"}}, Rows: rows}
}

func signatures(seen *component.Inspection) console.Document {
	document := console.Document{
		Columns: []console.Column{
			{Name: "SIGNATURE"}, {Name: "STATE", State: true}, {Name: "BY"}, {Name: "ALGORITHM"}, {Name: "HASH", Wide: true},
			{Name: "NORMALISATION", Wide: true}, {Name: "REASON"},
		},
		Empty: "It is not signed.",
	}
	for _, s := range seen.Signatures {
		by := s.By
		if by == "" {
			by = s.Issuer
		}
		document.Rows = append(document.Rows, []string{s.Name, s.State, by, s.Algorithm, s.Hash, s.Normalisation, s.Reason})
	}
	return document
}
