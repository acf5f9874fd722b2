package statusreader

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// server starts the API server that all tests of this package share, with our kinds and without controllers. The first test that needs it
// starts it.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }
