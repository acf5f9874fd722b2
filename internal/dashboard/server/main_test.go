package server

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// The API server that all tests of this package share trusts the identity provider of oidc_test.go.
func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds, trustProvider) }
