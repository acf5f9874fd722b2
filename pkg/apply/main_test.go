package apply

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// server is the API server that all tests of this package share. The first test that needs it starts it: so the others run at
// once without it, and go test notices a changed KUBEBUILDER_ASSETS, which it does not for what TestMain reads.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m) }
