package helm

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// functions replace some of those that templates have.
//
//  1. What makes much out of little, or takes long, asks for it first.
//  2. What could make a map that holds itself refuses to: whatever prints or copies such a map ends the process.
//  3. "now" is ours, and what is random takes one value in the first render and another in the second: what depends on them differs for
//     certain and not by chance.
//  4. What gives the entries of a map in no order gives them sorted.
//  5. What gives something else each time notes that it was called, for the message about a chart that depends on it. For an installation
//     with values of its own, generators give those instead, see [generation].
func (b *templateBounds) functions() template.FuncMap {
	originals := sprig.TxtFuncMap()
	maps.Copy(originals, template.FuncMap{
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	})
	functions := b.unsteady()
	maps.Copy(functions, template.FuncMap{
		stepFunction: b.step, textFunction: b.text, endFunction: b.end, "lookup": b.lookup, "keys": sortedKeys, "values": sortedValues,
	})
	if b.generated != nil {
		for name := range shapes {
			functions[name] = b.generator(name, originals[name])
		}
	}
	current := func(name string) any {
		if function := functions[name]; function != nil {
			return function
		}
		return originals[name]
	}
	for name, cost := range costs {
		functions[name] = around(current(name), func(args []reflect.Value) error { return b.spend(cost(args)) }, nil)
	}
	for name, at := range dates {
		functions[name] = around(originals[name], func(args []reflect.Value) error { args[at] = b.date(args[at]); return nil }, nil)
	}
	for name, check := range changes {
		functions[name] = around(originals[name], func([]reflect.Value) error { return b.spend(turn) },
			func(args []reflect.Value) error { return b.acyclic(check(args)) })
	}
	for name := range varying {
		if b.generated == nil || shapes[name] == nil {
			functions[name] = around(current(name), func([]reflect.Value) error { b.varied[name] = true; return nil }, nil)
		}
	}
	return functions
}

// around makes a function of the same type with something before and after it. The engine turns the panic into an error of the template.
func around(function any, before, after func([]reflect.Value) error) any {
	original := reflect.ValueOf(function)
	call := original.Call
	if original.Type().IsVariadic() {
		call = original.CallSlice
	}
	return reflect.MakeFunc(original.Type(), func(args []reflect.Value) []reflect.Value {
		if err := before(args); err != nil {
			panic(err)
		}
		results := call(args)
		if after != nil {
			if err := after(args); err != nil {
				panic(err)
			}
		}
		return results
	}).Interface()
}

// unsteady are functions of the clock and of chance. "ago" and "randInt" need not be right: nothing that depends on them is accepted.
func (b *templateBounds) unsteady() template.FuncMap {
	second := b.now.Equal(instants[1])
	chosen := func(first, other string) any {
		if second {
			first = other
		}
		return func(count int) string { return strings.Repeat(first, max(count, 0)) }
	}
	return template.FuncMap{
		"now":          func() time.Time { return b.now },
		"ago":          func(any) string { return b.now.String() },
		"randAlphaNum": chosen("a", "b"),
		"randAlpha":    chosen("a", "b"),
		"randAscii":    chosen("a", "b"),
		"randNumeric":  chosen("1", "2"),
		"randBytes":    chosen("YWFh", "YmJi"),
		"randInt": func(from, to int) int {
			if second {
				return max(from, to-1)
			}
			return from
		},
	}
}

// dates are functions that take a date as the argument of that number, and the clock where it is none.
var dates = map[string]int{"date": 1, "date_in_zone": 1, "dateInZone": 1, "htmlDate": 0, "htmlDateInZone": 0}

func (b *templateBounds) date(arg reflect.Value) reflect.Value {
	switch arg.Interface().(type) {
	case time.Time, *time.Time, int64, int, int32:
		return arg
	default:
		b.varied["now"] = true
		return reflect.ValueOf(b.now)
	}
}

// costs are of functions that make much out of little, that double what they get when they are called in a loop, or that take long.
var costs = map[string]func(args []reflect.Value) int64{
	"repeat":                     func(a []reflect.Value) int64 { return product(a[0].Int(), size(a[1])) },
	"indent":                     indentation,
	"nindent":                    indentation,
	"until":                      func(a []reflect.Value) int64 { return product(16, span(0, a[0].Int(), 1)) },
	"untilStep":                  func(a []reflect.Value) int64 { return product(16, span(a[0].Int(), a[1].Int(), a[2].Int())) },
	"seq":                        sequence,
	"replace":                    replacement,
	"join":                       func(a []reflect.Value) int64 { return product(size(a[0])+1, size(a[1])) },
	"wrapWith":                   func(a []reflect.Value) int64 { return product(size(a[1])+1, size(a[2])) },
	"concat":                     func(a []reflect.Value) int64 { return product(64, elements(a[0])) },
	"regexReplaceAll":            anywhere,
	"mustRegexReplaceAll":        anywhere,
	"regexReplaceAllLiteral":     anywhere,
	"mustRegexReplaceAllLiteral": anywhere,

	"cat": sizes, "print": sizes, "printf": sizes, "println": sizes, "html": sizes, "js": sizes, "urlquery": sizes,
	"quote": sizes, "squote": sizes, "b64enc": sizes, "b32enc": sizes, "toString": sizes,
	"toPrettyJson": sizes, "toRawJson": sizes, "regexQuoteMeta": sizes,

	// A chain of these is as long as there were calls, and what walks down the chain needs stack for each link.
	"dict": made, "list": made, "tuple": made, "append": made, "push": made, "mustAppend": made, "mustPush": made,
	"prepend": made, "mustPrepend": made, "chunk": made, "mustChunk": made,

	"randAlphaNum": drawn, "randAlpha": drawn, "randAscii": drawn, "randNumeric": drawn, "randBytes": drawn, "shuffle": sizes,

	"bcrypt": slow, "htpasswd": slow, "derivePassword": slow, "genPrivateKey": slow, "genCA": slow, "genCAWithKey": slow,
	"genSelfSignedCert": slow, "genSelfSignedCertWithKey": slow, "genSignedCert": slow, "genSignedCertWithKey": slow,
}

func drawn(args []reflect.Value) int64 { return product(16, args[0].Int()) }

func slow([]reflect.Value) int64 { return maxWork / 256 }

func made(args []reflect.Value) int64 { return turn + sizes(args) }

func indentation(args []reflect.Value) int64 {
	return size(args[1]) + product(args[0].Int(), int64(strings.Count(args[1].String(), "\n")+1))
}

func replacement(args []reflect.Value) int64 {
	found := strings.Count(args[2].String(), args[0].String())
	return size(args[2]) + product(size(args[1]), int64(found))
}

func anywhere(args []reflect.Value) int64 { return product(size(args[1])+1, size(args[2])+1) }

func sequence(args []reflect.Value) int64 {
	var bounds []int64
	for i := range args[0].Len() {
		bounds = append(bounds, args[0].Index(i).Int())
	}
	switch len(bounds) {
	case 1:
		return product(20, span(1, bounds[0], 1))
	case 2:
		return product(20, span(bounds[0], bounds[1], 1))
	case 3:
		return product(20, span(bounds[0], bounds[2], bounds[1]))
	}
	return 0
}

// span is at least how many numbers lie between two in steps.
func span(from, to, step int64) int64 {
	distance, width := math.Abs(float64(to)-float64(from))+2, math.Abs(float64(step))
	if step == 0 || distance/width > maxWork {
		return maxWork
	}
	return int64(distance/width) + 1
}

func product(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

func sizes(args []reflect.Value) int64 {
	total := int64(0)
	for _, arg := range args {
		total += size(arg)
	}
	return total
}

// size is about how many bytes a value has, without what lists and maps in it hold.
func size(value reflect.Value) int64 {
	for value.IsValid() && value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() {
		return 1
	}
	switch value.Kind() {
	case reflect.String, reflect.Map:
		return int64(value.Len()) + 1
	case reflect.Slice, reflect.Array:
		total := int64(1)
		for i := range value.Len() {
			item := value.Index(i)
			if item.Kind() == reflect.Interface {
				item = item.Elem()
			}
			total += 16
			if item.IsValid() && (item.Kind() == reflect.String || item.Kind() == reflect.Slice) {
				total += int64(item.Len())
			}
		}
		return total
	default:
		return 8
	}
}

// elements returns how many there are in all lists of a list.
func elements(lists reflect.Value) int64 {
	total := int64(1)
	for i := range lists.Len() {
		list := lists.Index(i)
		for list.IsValid() && list.Kind() == reflect.Interface {
			list = list.Elem()
		}
		if list.IsValid() && (list.Kind() == reflect.Slice || list.Kind() == reflect.Array) {
			total += int64(list.Len())
		}
	}
	return total
}

func sortedKeys(tables ...map[string]any) []string {
	all := []string{}
	for _, table := range tables {
		all = append(all, slices.Sorted(maps.Keys(table))...)
	}
	return all
}

func sortedValues(table map[string]any) []any {
	all := []any{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		all = append(all, table[key])
	}
	return all
}
