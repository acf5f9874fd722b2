package component_test

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// TestFromPlain_AnImageWithoutTLSSaysNothingOfOthers: what it begins with is spoken to by http, and the images that are requested
// afterwards are not.
func TestFromPlain_AnImageWithoutTLSSaysNothingOfOthers(t *testing.T) {
	s := serve(t)
	version, err := component.From(t.Context(), "http://"+s.image(t), component.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if version.Access.PlainHTTP || version.Access.Policy("ghcr.io").PlainHTTP || !version.Access.Policy(s.Host).PlainHTTP {
		t.Errorf("http is spoken to all: %v, to ghcr.io: %v, to %s: %v", version.Access.PlainHTTP,
			version.Access.Policy("ghcr.io").PlainHTTP, s.Host, version.Access.Policy(s.Host).PlainHTTP)
	}
}
