package setup

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	uzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Logger returns a logger that writes structured lines (JSON). Libraries that log with klog use it too. Logs of the standard library are
// dropped: Helm's engine quotes values there, which may be secret.
func Logger(out io.Writer, level int) logr.Logger {
	log := zap.New(zap.WriteTo(out), zap.JSONEncoder(func(c *zapcore.EncoderConfig) {
		c.EncodeTime = zapcore.ISO8601TimeEncoder
	}), zap.Level(uzap.NewAtomicLevelAt(zapcore.Level(-level))), zap.StacktraceLevel(zapcore.PanicLevel))
	slog.SetDefault(slog.New(slog.DiscardHandler)) // package log writes to it from now on
	klog.SetLogger(log.WithName("client-go"))
	return log
}
