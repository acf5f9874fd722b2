package userfile

import "testing"

// SetMost changes how many bytes Read accepts, for one test.
func SetMost(t *testing.T, bytes int64) {
	before := most
	most = bytes
	t.Cleanup(func() { most = before })
}
