// Package valueflags answers one question: which values for a chart do the flags of a command give?
//
// The flags are those of Helm, and so is their order: files, then --set, then --set-string; a later one counts before an earlier one.
//
// Non-goals: it does not know the chart, and refuses nothing that Helm reads.
package valueflags

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/pflag"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// Flags are the values of the flags. The zero value is ready for use.
type Flags struct {
	files, set, texts []string
}

// Add adds the flags to a command. What says what their values are for.
func (f *Flags) Add(flags *pflag.FlagSet, what string) {
	flags.StringArrayVarP(&f.files, "values", "f", nil, "file with values "+what+" (can be repeated; the last one counts first)")
	flags.StringArrayVar(&f.set, "set", nil, "a value over those of files, as in Helm: KEY=VALUE, also a.b[0]=x,c=y (can be repeated)")
	flags.StringArrayVar(&f.texts, "set-string", nil, "the same as --set, where every VALUE is a text (can be repeated)")
}

// IsSet reports whether any of the flags is given.
func (f *Flags) IsSet() bool { return len(f.files)+len(f.set)+len(f.texts) > 0 }

// Names returns the flags that are given, for messages.
func (f *Flags) Names() string {
	var names []string
	for _, one := range []struct {
		name  string
		given []string
	}{{"--values", f.files}, {"--set", f.set}, {"--set-string", f.texts}} {
		if len(one.given) > 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, ", ")
}

// Read returns the values that the flags give together.
func (f *Flags) Read(ctx context.Context) (map[string]any, error) {
	values, err := packaging.ReadValues(ctx, f.files)
	if err != nil {
		return nil, err
	}
	for _, text := range f.set {
		if err := strvals.ParseInto(text, values); err != nil {
			return nil, console.Usage("--set %s: %w", text, err).With("write KEY=VALUE, with a backslash before a comma in VALUE")
		}
	}
	for _, text := range f.texts {
		if err := strvals.ParseIntoString(text, values); err != nil {
			return nil, console.Usage("--set-string %s: %w", text, err).With("write KEY=VALUE, with a backslash before a comma in VALUE")
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return helm.Values(text) // numbers are the same whichever flag has them
}
