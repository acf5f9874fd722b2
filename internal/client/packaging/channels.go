package packaging

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// channelName and channelVersion are the formats that a ModuleReleaseMeta accepts.
var (
	channelName    = regexp.MustCompile(`^[a-z]{3,32}$`)
	channelVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?$`)
)

// Move is a change of one channel.
type Move struct {
	Channel string `json:"channel"`
	// From is the previous version; empty for a new channel.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	// Downgrade reports whether To is lower: clusters then keep their version.
	Downgrade bool `json:"downgrade,omitempty"`
	// UnsafeCRDChanges are the rules of CRD safety that the upgrade breaks and does not allow, as far as the versions could be compared.
	UnsafeCRDChanges []string `json:"unsafeCRDChanges,omitempty"`
}

// Changes reports whether the channel changes.
func (m Move) Changes() bool { return m.From != m.To }

// Moves compares the current channels with the wanted ones.
func Moves(channels, wanted []v1beta2.ChannelVersion) ([]Move, error) {
	moves := make([]Move, 0, len(wanted))
	seen := map[string]bool{}
	for _, want := range wanted {
		if err := checkChannel(want); err != nil {
			return nil, err
		}
		if seen[want.Channel] {
			return nil, fmt.Errorf("channel %s is named twice", want.Channel)
		}
		seen[want.Channel] = true
		move := Move{Channel: want.Channel, To: want.Version}
		if at := indexOf(channels, want.Channel); at >= 0 {
			move.From = channels[at].Version
			move.Downgrade = moduleversion.IsLower(want.Version, move.From)
		}
		moves = append(moves, move)
	}
	return moves, nil
}

// Promotion returns a channel that takes over the version of another one.
func Promotion(channels []v1beta2.ChannelVersion, from, to string) (v1beta2.ChannelVersion, error) {
	at := indexOf(channels, from)
	if at < 0 {
		return v1beta2.ChannelVersion{}, fmt.Errorf("there is no channel %s: there are %s", from, ChannelNames(channels))
	}
	return v1beta2.ChannelVersion{Channel: to, Version: channels[at].Version}, nil
}

// ChannelNames lists channels for a sentence.
func ChannelNames(channels []v1beta2.ChannelVersion) string {
	var names []string
	for _, c := range channels {
		names = append(names, c.Channel)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Apply returns the channels after some moves.
func Apply(channels []v1beta2.ChannelVersion, moves []Move) []v1beta2.ChannelVersion {
	made := slices.Clone(channels)
	for _, move := range moves {
		if at := indexOf(made, move.Channel); at >= 0 {
			made[at].Version = move.To
			continue
		}
		made = append(made, v1beta2.ChannelVersion{Channel: move.Channel, Version: move.To})
	}
	return made
}

func indexOf(channels []v1beta2.ChannelVersion, name string) int {
	return slices.IndexFunc(channels, func(c v1beta2.ChannelVersion) bool { return c.Channel == name })
}

func checkChannel(c v1beta2.ChannelVersion) error {
	switch {
	case !channelName.MatchString(c.Channel):
		return fmt.Errorf("%q is no name for a channel: use 3 to 32 lower case letters", c.Channel)
	case c.Channel == v1beta2.NoChannel:
		return fmt.Errorf("no channel can be called %s", c.Channel)
	case !channelVersion.MatchString(c.Version) || len(c.Version) > 32:
		return fmt.Errorf("channel %s cannot offer version %q: write three numbers with dots, and -word behind them for a prerelease, "+
			"up to 32 characters", c.Channel, c.Version)
	}
	return nil
}
