package kymaedit

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// ModuleRequest is a requested change of one module. Empty fields stay as they are.
type ModuleRequest struct {
	// Name of the module.
	Name string
	// Channel to follow, or Version to stay at: at most one of them.
	Channel, Version string
	// Policy for the default custom resource.
	Policy v1beta2.CustomResourcePolicy
	// Strategy of upgrades.
	Strategy v1beta2.UpgradeStrategy
	// Values for the charts of the module, in place of those of the entry.
	Values *runtime.RawExtension
}

// The formats that the API accepts. The API server validates a version in full.
var (
	namePattern    = regexp.MustCompile(`^[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?$`)
	channelPattern = regexp.MustCompile(`^[a-z]{3,32}$`)
	versionPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?$`)
)

// ParseWish parses NAME, NAME@VERSION or NAME:CHANNEL.
func ParseWish(text string) (ModuleRequest, error) {
	wish := ModuleRequest{Name: text}
	if name, version, pinned := strings.Cut(text, "@"); pinned {
		wish.Name, wish.Version = name, version
		if !versionPattern.MatchString(version) {
			return ModuleRequest{}, fmt.Errorf("%q: %q is no version such as 1.2.3", text, version)
		}
	} else if name, channel, named := strings.Cut(text, ":"); named {
		wish.Name, wish.Channel = name, channel
		if !IsChannel(channel) {
			return ModuleRequest{}, fmt.Errorf("%q: %q is not a valid channel: use 3 to 32 lower-case letters", text, channel)
		}
	}
	if len(wish.Name) > 253 || !namePattern.MatchString(wish.Name) {
		return ModuleRequest{}, fmt.Errorf("%q is not a valid module name: write NAME, NAME@VERSION or NAME:CHANNEL", text)
	}
	return wish, nil
}

// ParseTarget parses a version or a channel.
func ParseTarget(text string) (ModuleRequest, error) {
	switch {
	case versionPattern.MatchString(text):
		return ModuleRequest{Version: text}, nil
	case IsChannel(text):
		return ModuleRequest{Channel: text}, nil
	}
	return ModuleRequest{}, fmt.Errorf("%q is neither a version such as 1.2.3 nor a channel such as regular", text)
}

// IsChannel reports whether a text is a valid channel name.
func IsChannel(text string) bool {
	return channelPattern.MatchString(text) && text != v1beta2.NoChannel
}

// String returns the wish in the form of the command line.
func (w ModuleRequest) String() string {
	switch {
	case w.Version != "":
		return w.Name + "@" + w.Version
	case w.Channel != "":
		return w.Name + ":" + w.Channel
	}
	return w.Name
}
