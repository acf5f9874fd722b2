package proxy

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Event is one event of a watch stream.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
	Type string
	// Kind, Namespace, Name, UID and ResourceVersion are those of its object.
	Kind, Namespace, Name, UID, ResourceVersion string
	// Raw is the event as it is transferred: JSON and a newline.
	Raw []byte
}

// Fate is what happens to an event; the zero Fate lets it pass. Events of a stream keep their order: a waiting event holds those behind it.
type Fate struct {
	// Drop loses the event.
	Drop bool
	// Delay waits before the event continues.
	Delay time.Duration
	// Hold waits until it is closed, if it is not nil.
	Hold <-chan struct{}
	// Cut ends the stream before the event continues.
	Cut bool
}

// EventHandler decides on an event of a watch. It is called for one event of a stream after another, for several streams at once.
type EventHandler func(Call, Event) Fate

type handlers struct {
	mutex sync.RWMutex
	all   []*EventHandler
}

// Events lets a handler decide on every event of every watch stream, including the open ones, until remove is called. With several
// handlers, the first Fate that is not zero counts.
func (p *Proxy) Events(handler EventHandler) (remove func()) {
	added := &handler
	p.watchers.mutex.Lock()
	defer p.watchers.mutex.Unlock()
	p.watchers.all = append(slices.Clone(p.watchers.all), added)
	return func() {
		p.watchers.mutex.Lock()
		defer p.watchers.mutex.Unlock()
		p.watchers.all = slices.DeleteFunc(slices.Clone(p.watchers.all), func(h *EventHandler) bool { return h == added })
	}
}

func (h *handlers) current() []*EventHandler {
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	return h.all
}

func (h *handlers) decide(call Call, line []byte) Fate {
	all := h.current()
	if len(all) == 0 {
		return Fate{}
	}
	event, ok := parseEvent(line)
	if !ok {
		return Fate{}
	}
	for _, handler := range all {
		if fate := (*handler)(call, event); fate != (Fate{}) {
			return fate
		}
	}
	return Fate{}
}

func parseEvent(line []byte) (Event, bool) {
	var wire struct {
		Type   string `json:"type"`
		Object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name            string `json:"name"`
				Namespace       string `json:"namespace"`
				UID             string `json:"uid"`
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		} `json:"object"`
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		return Event{}, false
	}
	m := wire.Object.Metadata
	return Event{
		Type: wire.Type, Kind: wire.Object.Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Raw: line,
	}, true
}

// readable requests JSON for watch streams, because the binary encodings are not readable. All our clients accept both.
func readable(request *http.Request) {
	if call := read(request); call.Verb != "watch" {
		return
	}
	var accepted []string
	for accept := range strings.SplitSeq(request.Header.Get("Accept"), ",") {
		kind, parameters, _ := strings.Cut(strings.TrimSpace(accept), ";")
		if strings.Contains(kind, "protobuf") || strings.Contains(kind, "cbor") {
			kind = "application/json"
		}
		if parameters = strings.ReplaceAll(parameters, "stream=watch", ""); parameters != "" {
			kind += ";" + strings.Trim(parameters, ";")
		}
		if !slices.Contains(accepted, kind) {
			accepted = append(accepted, kind)
		}
	}
	request.Header.Set("Accept", strings.Join(accepted, ","))
}

// readAlong passes on a stream, event by event.
func (p *Proxy) readAlong(call Call, upstream io.ReadCloser) io.ReadCloser {
	reader, writer := io.Pipe()
	stream := &stream{PipeReader: reader, upstream: upstream, gone: make(chan struct{})}
	go func() {
		lines := bufio.NewReaderSize(upstream, 64<<10)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 && !p.pass(call, line, writer, stream.gone) {
				err = io.EOF
			}
			if err != nil {
				_ = writer.CloseWithError(err)
				_ = upstream.Close()
				return
			}
		}
	}()
	return stream
}

// pass carries out the fate of an event, and reports whether the stream continues.
func (p *Proxy) pass(call Call, line []byte, to io.Writer, gone <-chan struct{}) bool {
	fate := p.watchers.decide(call, line)
	if fate.Delay > 0 {
		select {
		case <-time.After(fate.Delay):
		case <-gone:
			return false
		}
	}
	if fate.Hold != nil {
		select {
		case <-fate.Hold:
		case <-gone:
			return false
		}
	}
	if fate.Cut {
		return false
	}
	if fate.Drop {
		return true
	}
	_, err := to.Write(line)
	return err == nil
}

// stream is the client's side. Its end also ends the upstream.
type stream struct {
	*io.PipeReader

	upstream io.Closer
	once     sync.Once
	gone     chan struct{}
}

// Close ends both streams.
func (s *stream) Close() error {
	s.once.Do(func() { close(s.gone) })
	_ = s.PipeReader.Close()
	return s.upstream.Close()
}
