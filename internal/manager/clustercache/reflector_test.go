package clustercache

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestAdvised_PauseOfAPIServer(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"it has too much to do", apierrors.NewTooManyRequests("too many requests", 7), 7 * time.Second},
		{"it asks for longer than anyone waits", apierrors.NewTooManyRequests("too many requests", 7200), lastPause},
		{"it fills its cache of a kind", apierrors.NewTooManyRequests("storage is (re)initializing", 1), 0},
		{"it asks for nothing", errors.New("storage is (re)initializing"), 0},
	} {
		if got := advised(test.err); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
