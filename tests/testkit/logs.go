package testkit

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// Log is a logger that passes everything on and records errors.
type Log struct {
	out io.Writer

	mu     sync.Mutex
	lines  int
	times  map[string]int // of each logger, by the beginning of its lines
	errors []string
}

// NewLog returns a Log that writes to out, such as GinkgoWriter, which shows its content for failed specs.
func NewLog(out io.Writer) *Log { return &Log{out: out} }

// Logger returns the logger for a manager.
func (l *Log) Logger() logr.Logger {
	formatter := funcr.NewFormatter(funcr.Options{LogTimestamp: true, TimestampFormat: "15:04:05.000"})
	return logr.New(&logSink{Formatter: formatter, log: l})
}

// Errors returns the error lines so far, except for last events that a stopped manager could not write.
func (l *Log) Errors() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.errors), func(line string) bool {
		return strings.Contains(line, "Unable to write event") && strings.Contains(line, context.Canceled.Error())
	})
}

// Count returns how many lines were logged so far.
func (l *Log) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// Times returns how often a logger logged a message, given its name and the message as they appear in the log.
func (l *Log) Times(name, message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.times[name+" "+message]
}

func (l *Log) write(level, prefix, args string, isError bool) {
	line := level + " " + prefix + " " + args
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines++
	if isError {
		l.errors = append(l.errors, line)
	}
	_, _ = fmt.Fprintln(l.out, line) // there is no other place to report a failed write
}

func (l *Log) count(name, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.times == nil {
		l.times = map[string]int{}
	}
	l.times[name+" "+message]++
}

// logSink adapts Log to logr.
type logSink struct {
	funcr.Formatter
	log *Log
}

// Enabled is true for the level that users turn on to find a fault, and false for client-go's details.
func (s *logSink) Enabled(level int) bool { return level <= 1 }

// Info logs a line.
func (s *logSink) Info(level int, message string, pairs ...any) {
	prefix, args := s.FormatInfo(level, message, pairs)
	s.log.count(prefix, message)
	s.log.write("INFO ", prefix, args, false)
}

// Error logs a line and records it.
func (s *logSink) Error(err error, message string, pairs ...any) {
	prefix, args := s.FormatError(err, message, pairs)
	s.log.write("ERROR", prefix, args, true)
}

// WithValues returns a sink that adds the pairs to every line.
func (s *logSink) WithValues(pairs ...any) logr.LogSink {
	child := &logSink{Formatter: s.Formatter, log: s.log}
	child.AddValues(pairs)
	return child
}

// WithName returns a sink that adds the name to every line.
func (s *logSink) WithName(name string) logr.LogSink {
	child := &logSink{Formatter: s.Formatter, log: s.log}
	child.AddName(name)
	return child
}
