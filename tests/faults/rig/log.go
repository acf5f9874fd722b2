package rig

import (
	"bytes"
	"os"
	"slices"
	"sync"
)

const (
	// logBytes bound what is written to disk, and tailLines what is kept in memory.
	logBytes  = 64 << 20
	tailLines = 400
)

// Log counts the lines that a manager writes, keeps the last ones, and writes them to a file until it reaches its limit.
type Log struct {
	// Path of the file.
	Path string

	mutex   sync.Mutex
	file    *os.File
	written int
	lines   int
	tail    []string
	rest    []byte
	dying   bool // the following lines are Go's dump of all goroutines after a fatal error
}

func newLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	return &Log{Path: path, file: file}, err
}

// Write accepts the output of a process. It never fails, so that a full disk here does not affect the manager.
func (l *Log) Write(data []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.written < logBytes {
		n, _ := l.file.Write(data)
		l.written += n
	}
	l.rest = append(l.rest, data...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			break
		}
		l.dying = l.dying || bytes.HasPrefix(line, []byte("fatal error: "))
		if !l.dying || bytes.HasPrefix(line, []byte("{")) { // log lines may occur inside a dump
			l.lines++
		}
		if l.tail = append(l.tail, string(line)); len(l.tail) > tailLines {
			l.tail = l.tail[1:]
		}
		l.rest = rest
	}
	return len(data), nil
}

// begin notes the start of a new process.
func (l *Log) begin() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.dying = false
}

// Lines returns the number of lines, without Go's dump when a program runs out of memory: several for each goroutine.
func (l *Log) Lines() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.lines
}

// Tail returns at most that many of the last lines.
func (l *Log) Tail(most int) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.tail[max(0, len(l.tail)-most):])
}

func (l *Log) close() error { return l.file.Close() }
