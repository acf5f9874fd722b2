package authorcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

// offers are what channels offer.
type offers = []v1beta2.ChannelVersion

// releasing is a change of what channels offer.
type releasing struct {
	releaseFlags
	allowDowngrade bool
	force          bool
	dryRun         string
}

func (r *releasing) addFlags(a *author, command *cobra.Command) {
	r.releaseFlags.addFlags(a, command)
	flags := command.Flags()
	flags.BoolVar(&r.allowDowngrade, "allow-downgrade", false,
		"let a channel offer a lower version; clusters keep the higher one that they have")
	flags.BoolVar(&r.force, "force", false,
		"offer a version although it does not work with the versions of other modules that the channel offers")
	flags.StringVar(&r.dryRun, "dry-run", "none", "none, client (print what would change) or server (let the API server check it)")
}

// moveList is the output of release set and promote for programs.
type moveList struct {
	console.Versioned
	Module string           `json:"module"`
	DryRun string           `json:"dryRun,omitempty"`
	Items  []packaging.Move `json:"items"`
}

func (a *author) releaseSet() *cobra.Command {
	var r releasing
	command := &cobra.Command{
		Use:   "set NAME CHANNEL=VERSION...",
		Short: "Let channels offer versions of a module",
		Long: "set lets channels offer versions. A version without a ModuleTemplate, or, with --registry, " +
			"without a component version is refused, and\n" +
			"so is a lower one than before, one that needs a module which the channel does not offer in a version that it works with, and one\n" +
			"that what another module offers in the channel does not work with.\n" +
			"Where the versions can be read, their CustomResourceDefinitions are compared: what clusters would refuse is reported, and must be\n" +
			"confirmed. --component begins a ModuleReleaseMeta where there is none.",
		Example: "  kyma release set notes fast=0.2.0\n" +
			"  kyma release set notes regular=0.1.0 fast=0.2.0 -f release.yaml --component example.com/module/notes",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return console.Usage("a module and CHANNEL=VERSION are needed").With("for example: kyma release set notes fast=0.2.0")
			}
			return nil
		},
		ValidArgsFunction: a.completeRelease,
	}
	output := outputs(command)
	r.addFlags(a, command)
	command.Flags().StringVar(&r.component, "component", "", "name of the component, for a ModuleReleaseMeta that is new")
	command.RunE = func(command *cobra.Command, args []string) error {
		var wanted offers
		for _, text := range args[1:] {
			channel, version, ok := strings.Cut(text, "=")
			if !ok {
				return console.Usage("%s is not CHANNEL=VERSION", text).With("for example: fast=0.2.0")
			}
			wanted = append(wanted, v1beta2.ChannelVersion{Channel: channel, Version: version})
		}
		return a.release(command.Context(), &r, output.Format, args[0], func(offers) (offers, error) { return wanted, nil })
	}
	return command
}

func (a *author) releasePromote() *cobra.Command {
	var r releasing
	command := &cobra.Command{
		Use:   "promote NAME FROM TO",
		Short: "Let a channel offer the version that another one offers",
		Long: "promote lets channel TO offer the version that channel FROM offers, such as fast and regular. A lower version than before is\n" +
			"refused, and so is one that needs what the channel does not offer, or that what it offers does not work with; changes of\n" +
			"CustomResourceDefinitions that clusters would refuse are reported, and must be confirmed.",
		Example: "  kyma release promote notes fast regular\n  kyma release promote notes fast regular -f release.yaml\n" +
			"  kyma release promote notes fast regular --dry-run=client",
		Args:              cobra.ExactArgs(3),
		ValidArgsFunction: a.completeRelease,
	}
	output := outputs(command)
	r.addFlags(a, command)
	command.RunE = func(command *cobra.Command, args []string) error {
		return a.release(command.Context(), &r, output.Format, args[0], func(channels offers) (offers, error) {
			promoted, err := packaging.Promotion(channels, args[1], args[2])
			if err != nil {
				return nil, console.NotFound("module %s: %w", args[0], err)
			}
			return offers{promoted}, nil
		})
	}
	return command
}

// release changes what channels offer, and shows what changes.
func (a *author) release(
	ctx context.Context, r *releasing, format console.Format, module string,
	want func(offers) (offers, error),
) error {
	if r.dryRun != "none" && r.dryRun != "client" && r.dryRun != "server" {
		return console.Usage("--dry-run=%s is unknown", r.dryRun).With("use none, client or server")
	}
	store, err := r.open(ctx, a, module)
	if err != nil {
		return withExitCode(err)
	}
	wanted, err := want(store.channels())
	if err != nil {
		return err
	}
	moves, err := packaging.Moves(store.channels(), wanted)
	if err != nil {
		return console.Usage("%w", err)
	}
	if err := r.accept(ctx, module, store, moves); err != nil {
		return withExitCode(err)
	}
	if err := a.satisfiable(ctx, r, store, moves); err != nil {
		return withExitCode(err)
	}
	if err := a.judgeUpgrades(ctx, r, store, moves); err != nil {
		return withExitCode(err)
	}
	waves, err := a.awaitArmed(ctx, r, store, moves)
	if err != nil {
		return err
	}
	if r.dryRun != "client" {
		if err := store.write(ctx, moves, r.dryRun == "server"); err != nil {
			return withExitCode(err)
		}
	}
	if err := a.printMoves(format, module, r.dryRun, moves); err != nil {
		return err
	}
	a.tellWaves(waves, r.dryRun != "none", moves)
	return nil
}

// accept refuses downgrades, and versions that cannot be installed.
func (r *releasing) accept(ctx context.Context, module string, store releases, moves []packaging.Move) error {
	for _, move := range moves {
		if move.Downgrade && !r.allowDowngrade {
			return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
				"channel %s of %s offers %s, and %s is lower: clusters would keep what they have", move.Channel, module, move.From, move.To)}).
				With("--allow-downgrade does it anyway, for clusters that have nothing yet")
		}
		if move.Changes() {
			if err := store.known(ctx, move.To); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *author) printMoves(format console.Format, module, dryRun string, moves []packaging.Move) error {
	list := moveList{Versioned: console.Kind("ChannelMoveList"), Module: module, Items: moves}
	if dryRun != "none" {
		list.DryRun = dryRun
	}
	document := console.Document{
		Data: list, Columns: []console.Column{{Name: "CHANNEL"}, {Name: "FROM"}, {Name: "TO"}, {Name: "ACTION"}},
	}
	changed := false
	for _, move := range moves {
		changed = changed || move.Changes()
		document.Rows = append(document.Rows, []string{move.Channel, move.From, move.To, action(move)})
		document.Names = append(document.Names, "channel/"+move.Channel)
	}
	switch {
	case !changed:
		a.console.Sayf("The channels offer that already: nothing changed.")
	case dryRun != "none":
		a.console.Sayf("Nothing was written (dry run).")
	}
	return a.console.Print(format, document)
}

// action returns what happens to a channel, in a word.
func action(move packaging.Move) string {
	switch {
	case !move.Changes():
		return "unchanged"
	case move.From == "":
		return "added"
	case move.Downgrade:
		return "lowered"
	}
	return "raised"
}
