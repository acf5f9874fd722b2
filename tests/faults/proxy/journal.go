package proxy

import (
	"sync"
	"time"
)

// journal keeps the last calls.
type journal struct {
	mutex sync.Mutex
	room  int
	calls []*Call // a ring once it is full
	total uint64
}

func newJournal(room int) *journal { return &journal{room: room} }

// begin numbers a call and keeps it; the methods of the returned entry change it.
func (j *journal) begin(call Call) *entry {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.total++
	call.N = j.total
	kept := &call
	if len(j.calls) < j.room {
		j.calls = append(j.calls, kept)
	} else {
		j.calls[int((j.total-1)%uint64(j.room))] = kept
	}
	return &entry{journal: j, call: kept}
}

func (j *journal) since(n uint64) []Call {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	var found []Call
	for i := max(n, j.total-uint64(len(j.calls))); i < j.total; i++ {
		found = append(found, *j.calls[int(i%uint64(j.room))])
	}
	return found
}

func (j *journal) last() uint64 {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.total
}

func (j *journal) lost() uint64 {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.total - uint64(len(j.calls))
}

// entry is a call in progress.
type entry struct {
	journal *journal
	call    *Call
}

// copy returns the present state of the call.
func (e *entry) copy() Call {
	e.journal.mutex.Lock()
	defer e.journal.mutex.Unlock()
	return *e.call
}

func (e *entry) answered(status int) {
	e.journal.mutex.Lock()
	defer e.journal.mutex.Unlock()
	if e.call.Status == 0 {
		e.call.Status = status
	}
}

func (e *entry) upstream(status int) {
	e.journal.mutex.Lock()
	defer e.journal.mutex.Unlock()
	e.call.Upstream = status
}

func (e *entry) end() {
	e.journal.mutex.Lock()
	defer e.journal.mutex.Unlock()
	e.call.Took = time.Since(e.call.At)
}
