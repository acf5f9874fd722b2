package manifest

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Install makes the cluster hold what is declared. A second call with the same content writes nothing.
func Install(ctx context.Context, inst Installation) (Report, error) { panic("soon") }

// Check says, without a write, whether everything is there, as declared, and runs.
func Check(ctx context.Context, inst Installation) (Report, error) { panic("soon") }

// Diff says, without a write, what Install would change.
func Diff(ctx context.Context, inst Installation) ([]apply.Difference, error) { panic("soon") }

// Uninstall takes down what the record says. Only Name, Namespace and Config or Cluster are required.
func Uninstall(ctx context.Context, inst Installation) (Report, error) { panic("soon") }
