package clustercache

import (
	"testing"
	"time"
)

type closing chan struct{}

func (c closing) Close() error {
	close(c)
	return nil
}

func TestStreamCanceler_EndsOpeningThenStream(t *testing.T) {
	early := &streamCanceler{}
	opening, opened := early.openContext(t.Context())
	defer opened()
	early.cancel()
	if opening.Err() == nil || !early.canceled() {
		t.Error("the opening goes on")
	}
	for name, pullFirst := range map[string]bool{"pulled while it was opened": true, "pulled when it was open": false} {
		l, body := &streamCanceler{}, make(closing)
		_, opened := l.openContext(t.Context())
		if pullFirst {
			l.cancel()
		}
		l.attach(body)
		opened()
		if l.canceled() != pullFirst {
			t.Errorf("%s: an opening that is over counts as pulled", name)
		}
		l.cancel()
		l.cancel() // closing twice would panic
		select {
		case <-body:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the stream goes on", name)
		}
	}
}
