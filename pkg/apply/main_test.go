package apply

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// server is the API server that all tests of this package share. The first test that needs it starts it, so the other tests run without it,
// and go test notices a changed KUBEBUILDER_ASSETS, which it does not for variables that TestMain reads.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m) }
