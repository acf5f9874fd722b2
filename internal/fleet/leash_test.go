package fleet

import (
	"testing"
	"time"
)

type closing chan struct{}

func (c closing) Close() error {
	close(c)
	return nil
}

func TestALeashEndsTheOpeningAndThenTheStream(t *testing.T) {
	early := &leash{}
	opening, opened := early.hold(t.Context())
	defer opened()
	early.pull()
	if opening.Err() == nil || !early.cut() {
		t.Error("the opening goes on")
	}
	for name, pullFirst := range map[string]bool{"pulled while it was opened": true, "pulled when it was open": false} {
		l, body := &leash{}, make(closing)
		_, opened := l.hold(t.Context())
		if pullFirst {
			l.pull()
		}
		l.pass(body)
		opened()
		if l.cut() != pullFirst {
			t.Errorf("%s: an opening that is over counts as pulled", name)
		}
		l.pull()
		l.pull() // closing twice would panic
		select {
		case <-body:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the stream goes on", name)
		}
	}
}
