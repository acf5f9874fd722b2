package helm

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxGenerated is how many bytes the values may have that templates generate in one render, with the names of their calls.
const maxGenerated = 256 << 10

// generation gives the generators of one render their results: those that are known of the installation, and for the others new ones. A
// known result counts only if the function could have given it: it comes from a cluster, and goes into templates unquoted.
//
// A result belongs to the file of the chart, the function, its arguments, and how many calls of this file were the same before. So it stays
// where other files and other calls come and go, and a file that is included in another one gives what it gives by itself: the checksum of
// a Secret in a Deployment is that of the Secret.
type generation struct {
	known, used map[string]json.RawMessage
	size        int
	// found are the answers to what is looked up.
	found map[string]json.RawMessage
	// invents: there is no installation, and what is missing follows from the call.
	invents bool
}

// fileCalls counts the calls of generators in a file of the chart.
type fileCalls struct {
	name   string
	counts map[string]int
}

// newGeneration returns nil where results are to differ each time.
func newGeneration(of *render.Generated) *generation {
	if of == nil {
		return nil
	}
	return &generation{known: of.Values, used: map[string]json.RawMessage{}, found: of.Found, invents: of.Installation == ""}
}

// resultOf returns what a call has given: in this render, where a file is rendered by itself and as part of others, or before.
func (g *generation) resultOf(call string) (json.RawMessage, bool) {
	if result, ok := g.used[call]; ok {
		return result, true
	}
	result, ok := g.known[call]
	return result, ok
}

// results returns what was called for; nil for nothing.
func (g *generation) results() map[string]json.RawMessage {
	if g == nil || len(g.used) == 0 {
		return nil
	}
	return g.used
}

// generator makes a function of the same type that gives the same result for the same call. The engine turns the panic into an error of the
// template.
func (b *templateBounds) generator(name string, function any) any {
	original := reflect.ValueOf(function)
	return reflect.MakeFunc(original.Type(), func(args []reflect.Value) []reflect.Value {
		result, err := b.generate(name, args, original)
		if err != nil {
			panic(err)
		}
		results := []reflect.Value{result}
		for i := 1; i < original.Type().NumOut(); i++ {
			results = append(results, reflect.Zero(original.Type().Out(i)))
		}
		return results
	}).Interface()
}

// generate returns the result of one call.
func (b *templateBounds) generate(name string, args []reflect.Value, original reflect.Value) (reflect.Value, error) {
	if err := b.spend(sizes(args)); err != nil {
		return reflect.Value{}, err
	}
	call, err := b.nameCall(name, args)
	if err != nil {
		return reflect.Value{}, err
	}
	result := reflect.New(original.Type().Out(0)).Elem()
	if known, ok := b.generated.resultOf(call); ok {
		if json.Unmarshal(known, result.Addr().Interface()) != nil || !shapes[name](args, result) {
			b.err = content.Errorf(content.ReasonGeneratedValuesLost,
				"what is kept as the result of %q is none that %s gives: put back what was there", call, name)
			return reflect.Value{}, b.err
		}
		return result, b.keep(call, known)
	}
	if result, err = b.produce(name, args, call, original); err != nil {
		return reflect.Value{}, err
	}
	if !shapes[name](args, result) {
		return result, nil // it says what is wrong with the arguments, and says so each time
	}
	made, err := json.Marshal(result.Interface())
	if err != nil {
		return reflect.Value{}, err
	}
	return result, b.keep(call, made)
}

// produce returns a new result.
func (b *templateBounds) produce(name string, args []reflect.Value, call string, original reflect.Value) (reflect.Value, error) {
	if b.generated.invents {
		if invented := invent(name, args, call, original.Type().Out(0)); shapes[name](args, invented) {
			return invented, nil
		}
	}
	results := original.Call(args)
	if len(results) > 1 && !results[1].IsNil() {
		err, _ := reflect.TypeAssert[error](results[1])
		return reflect.Value{}, err
	}
	return results[0], nil
}

// keep notes a result.
func (b *templateBounds) keep(call string, result json.RawMessage) error {
	if _, kept := b.generated.used[call]; kept {
		return b.err
	}
	b.generated.used[call] = result
	if b.generated.size += len(call) + len(result); b.generated.size > maxGenerated {
		b.err = content.Errorf(content.ReasonContentTooLarge,
			"the templates of the chart generate more than %d KiB of values that are to be kept", maxGenerated>>10)
	}
	return b.err
}

// nameCall tells a call from the others. The arguments may be secret, and go in as a hash.
func (b *templateBounds) nameCall(name string, args []reflect.Value) (string, error) {
	var given []any
	for _, arg := range args {
		value, err := argument(arg)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		given = append(given, value)
	}
	text, err := json.Marshal(given)
	if err != nil {
		return "", err
	}
	file := &fileCalls{counts: map[string]int{}}
	if len(b.files) > 0 {
		file = b.files[len(b.files)-1]
	}
	sum := sha256.Sum256(text)
	call := fmt.Sprintf("%s %s %x", file.name, name, sum[:16])
	file.counts[call]++
	return fmt.Sprintf("%s %d", call, file.counts[call]), nil
}

var errNoText = errors.New("a list among the arguments has something else than text")

// argument returns an argument without what it may share with others: its JSON is as long as it is.
func argument(arg reflect.Value) (any, error) {
	if arg.Kind() != reflect.Slice {
		return arg.Interface(), nil // text, a number, or a certificate
	}
	texts := []string{} // nil and an empty list are the same to all generators
	for i := range arg.Len() {
		text, ok := reflect.TypeAssert[string](arg.Index(i))
		if !ok {
			return nil, errNoText
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// generates reports whether a generator was among the functions that gave something else each time.
func generates(varied map[string]bool) bool {
	for name := range varied {
		if shapes[name] != nil {
			return true
		}
	}
	return false
}

// withResults returns the input of another render with the same results; nil stays nil.
func withResults(of *render.Generated, used map[string]json.RawMessage) *render.Generated {
	if of == nil {
		return nil
	}
	all := maps.Clone(of.Values)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	maps.Copy(all, used)
	return &render.Generated{Installation: of.Installation, Values: all, Found: of.Found, Revision: of.Revision}
}
