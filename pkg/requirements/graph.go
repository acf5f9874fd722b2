package requirements

import (
	"maps"
	"slices"
)

// Graph maps modules to those that they require. A module that is only required need not be a key.
type Graph map[string][]string

// NewGraph returns the graph of modules and their requirements.
func NewGraph(requires map[string][]Requirement) Graph {
	graph := make(Graph, len(requires))
	for module, list := range requires {
		graph[module] = Modules(list)
	}
	return graph
}

// Order returns the modules so that each comes after those that it requires; the reverse is the order of removal. Equal graphs have the
// same order. It also returns the modules that require each other in a circle, each circle as a path that ends where it begins: a, b,
// a. Modules of a circle stand side by side in the order.
func Order(graph Graph) (order []string, cycles [][]string) {
	walk := walker{graph: graph, at: map[string]int{}, low: map[string]int{}, open: map[string]bool{}}
	for _, module := range graph.all() {
		if walk.at[module] == 0 {
			walk.visit(module)
		}
	}
	for _, group := range walk.groups {
		order = append(order, group...)
		if cycle := graph.Cycle(group[0]); cycle != nil {
			cycles = append(cycles, cycle)
		}
	}
	slices.SortFunc(cycles, slices.Compare)
	return order, cycles
}

// Cycle returns a shortest circle that a module is in, as a path from the module back to it; nil when it is in none.
func (g Graph) Cycle(module string) []string {
	from := map[string]string{}
	for next := []string{module}; len(next) > 0; next = next[1:] {
		for _, required := range g.required(next[0]) {
			if required == module {
				return g.path(from, module, next[0])
			}
			if _, seen := from[required]; !seen {
				from[required] = next[0]
				next = append(next, required)
			}
		}
	}
	return nil
}

// path returns the way from a module to the last one before it comes back, and the module again.
func (g Graph) path(from map[string]string, module, last string) []string {
	way := []string{module}
	for at := last; at != module; at = from[at] {
		way = append(way, at)
	}
	way = append(way, module)
	slices.Reverse(way)
	return way
}

// Needs reports whether a module requires another one, however indirectly.
func (g Graph) Needs(module, other string) bool {
	seen := map[string]bool{}
	for next := slices.Clone(g[module]); len(next) > 0; next = next[1:] {
		if next[0] == other {
			return true
		}
		if !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, g[next[0]]...)
		}
	}
	return false
}

// Dependents returns the modules that require a module, itself left out, sorted.
func (g Graph) Dependents(module string) []string {
	var found []string
	for dependent, required := range g {
		if dependent != module && slices.Contains(required, module) {
			found = append(found, dependent)
		}
	}
	slices.Sort(found)
	return found
}

// Cascade returns what must be removed with some modules: they and all that require them, however indirectly, in the order of removal.
func (g Graph) Cascade(modules ...string) []string {
	doomed := map[string]bool{}
	for next := slices.Clone(modules); len(next) > 0; next = next[1:] {
		if !doomed[next[0]] {
			doomed[next[0]] = true
			next = append(next, g.Dependents(next[0])...)
		}
	}
	order, _ := Order(g.with(modules))
	order = slices.DeleteFunc(order, func(module string) bool { return !doomed[module] })
	slices.Reverse(order)
	return order
}

// with returns the graph with modules that it may not have.
func (g Graph) with(modules []string) Graph {
	wider := maps.Clone(g)
	if wider == nil {
		wider = Graph{}
	}
	for _, module := range modules {
		if _, known := wider[module]; !known {
			wider[module] = nil
		}
	}
	return wider
}

// all returns the modules of the graph, also those that are only required, sorted.
func (g Graph) all() []string {
	set := map[string]struct{}{}
	for module, required := range g {
		set[module] = struct{}{}
		for _, one := range required {
			set[one] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// required returns what a module requires, sorted.
func (g Graph) required(module string) []string {
	if required := g[module]; slices.IsSorted(required) {
		return required
	}
	return slices.Sorted(slices.Values(g[module]))
}

// walker finds the groups of modules that require each other, those first that others require: Tarjan's strongly connected components.
type walker struct {
	graph   Graph
	at, low map[string]int
	open    map[string]bool
	stack   []string
	groups  [][]string
}

func (w *walker) visit(module string) {
	w.at[module] = len(w.at) + 1
	w.low[module] = w.at[module]
	w.stack, w.open[module] = append(w.stack, module), true
	for _, required := range w.graph.required(module) {
		switch {
		case w.at[required] == 0:
			w.visit(required)
			w.low[module] = min(w.low[module], w.low[required])
		case w.open[required]:
			w.low[module] = min(w.low[module], w.at[required])
		}
	}
	if w.low[module] != w.at[module] {
		return
	}
	first := slices.Index(w.stack, module)
	group := slices.Sorted(slices.Values(w.stack[first:]))
	w.stack = w.stack[:first]
	for _, one := range group {
		w.open[one] = false
	}
	w.groups = append(w.groups, group)
}
