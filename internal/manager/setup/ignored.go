package setup

import (
	"flag"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/takeover"
)

// anyValue is a flag that accepts any value, or none, as boolean flags do.
type anyValue struct{}

func (anyValue) String() string   { return "" }
func (anyValue) Set(string) error { return nil }

// bindIgnored defines the flags of upstream that have no effect, and returns the reason for each by name.
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
