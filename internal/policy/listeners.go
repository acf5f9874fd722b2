package policy

import (
	"slices"
	"sync"
)

// listeners are told after other content of a file has come into force.
type listeners struct {
	adding sync.Mutex
	called []func()
}

// OnChange registers a function that is called after other content has come into force.
func (l *listeners) OnChange(do func()) {
	l.adding.Lock()
	defer l.adding.Unlock()
	l.called = append(l.called, do)
}

func (l *listeners) tell() {
	l.adding.Lock()
	called := slices.Clone(l.called)
	l.adding.Unlock()
	for _, do := range called {
		do()
	}
}
