package server

import (
	"log"
	"strings"

	"github.com/go-logr/logr"
)

// quietly writes the messages of net/http about connections into the log: panics in full, failed connections clipped and at level 1,
// since clients can cause them.
type quietly struct{ to logr.Logger }

// Write implements io.Writer.
func (q quietly) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if strings.Contains(text, "panic serving") {
		q.to.Info("a request caused a panic", "trace", text)
		return len(line), nil
	}
	q.to.V(1).Info("a connection failed", "message", clip(text, 200))
	return len(line), nil
}

func quiet(to logr.Logger) *log.Logger { return log.New(quietly{to}, "", 0) }
