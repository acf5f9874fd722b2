package treereader

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// The tests of this package share an API server without controllers: tests set the owners of objects.
func TestMain(m *testing.M) { apiserver.Main(m) }
