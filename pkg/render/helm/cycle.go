package helm

import (
	"errors"
	"reflect"
)

// changes are functions that put something into a map that exists already, with the part of their arguments where a map could then hold
// itself.
var changes = map[string]func(args []reflect.Value) reflect.Value{
	"set":                func(args []reflect.Value) reflect.Value { return args[2] },
	"merge":              func(args []reflect.Value) reflect.Value { return args[0] },
	"mustMerge":          func(args []reflect.Value) reflect.Value { return args[0] },
	"mergeOverwrite":     func(args []reflect.Value) reflect.Value { return args[0] },
	"mustMergeOverwrite": func(args []reflect.Value) reflect.Value { return args[0] },
}

var errCycle = errors.New("a template makes a map that holds itself: put a copy into it (deepCopy)")

// container is a map or a list by what it shares with others of its kind.
type container struct {
	at     uintptr
	length int
}

// acyclic looks for a map that holds itself below value.
func (b *templateBounds) acyclic(value reflect.Value) error {
	if b.holdsItself(value, map[container]bool{}) {
		b.err = invalidChart("%w", errCycle)
	}
	return b.err
}

// holdsItself walks down; open has the containers seen so far, true for those above value.
func (b *templateBounds) holdsItself(value reflect.Value, open map[container]bool) bool {
	for value.IsValid() && value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() || (value.Kind() != reflect.Map && value.Kind() != reflect.Slice) || value.Len() == 0 {
		return false
	}
	switch value.Type().Elem().Kind() {
	case reflect.Interface, reflect.Map, reflect.Slice:
	default:
		return false
	}
	if b.spend(16) != nil {
		return false
	}
	this := container{value.Pointer(), value.Len()}
	if above, seen := open[this]; seen {
		return above
	}
	open[this] = true
	defer func() { open[this] = false }()
	if value.Kind() == reflect.Slice {
		for i := range value.Len() {
			if b.holdsItself(value.Index(i), open) {
				return true
			}
		}
		return false
	}
	for entries := value.MapRange(); entries.Next(); {
		if b.holdsItself(entries.Value(), open) {
			return true
		}
	}
	return false
}
