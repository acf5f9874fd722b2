package setup

import (
	"flag"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/takeover"
)

// anyValue is a flag that takes whatever it is given, also nothing, as boolean flags do.
type anyValue struct{}

func (anyValue) String() string   { return "" }
func (anyValue) Set(string) error { return nil }

// bindIgnored makes upstream's flags known that have no effect, and returns why by name.
func bindIgnored(set *flag.FlagSet) map[string]string {
	reasons := map[string]string{}
	for reason, names := range takeover.IgnoredFlags {
		for name := range strings.FieldsSeq(names) {
			reasons[name] = reason
			set.Var(anyValue{}, name, "accepted and ignored: "+reason)
		}
	}
	return reasons
}
