package causereader

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// The tests of this package share an API server. There is no controller and no node: tests write the status of pods, as these would.
func TestMain(m *testing.M) { apiserver.Main(m) }
