package authorcmd

import (
	"testing"
	"time"
)

// SetArmPatience sets how long release set waits for the mark of a rollout, until the end of a test.
func SetArmPatience(t *testing.T, patience time.Duration) {
	t.Helper()
	usual := armPatience
	t.Cleanup(func() { armPatience = usual })
	armPatience = patience
}
