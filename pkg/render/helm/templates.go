package helm

import (
	"maps"
	"path"
	"slices"
	"strings"
	goparse "text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// chartTemplates are the templates of a chart and its subcharts, by the names that the engine gives them. They are read, not run, and only
// to explain a refusal.
type chartTemplates map[string]*goparse.Tree

// examine reads the templates of a chart, and its values as they see them.
func examine(files []content.File, input render.Input) (chartTemplates, common.Values, error) {
	loaded, err := loadChart(files)
	if err != nil {
		return nil, nil, err
	}
	top, err := renderValues(loaded, input)
	if err != nil {
		return nil, nil, err
	}
	values, err := top.Table("Values")
	templates := chartTemplates{}
	templates.add(loaded)
	return templates, values, err
}

// add takes in the templates of a chart and its subcharts. One that cannot be parsed is left out: the engine has refused it already.
func (t chartTemplates) add(c *chart.Chart) {
	for _, file := range c.Templates {
		root := goparse.New(path.Join(c.ChartFullPath(), file.Name))
		root.Mode = goparse.SkipFuncCheck
		defined := map[string]*goparse.Tree{}
		if _, err := root.Parse(string(file.Data), "", "", defined); err != nil {
			continue
		}
		maps.Copy(t, defined)
		t[root.Name] = root
	}
	for _, subchart := range c.Dependencies() {
		t.add(subchart)
	}
}

// read returns what a template says, with the templates that it includes by their names.
func (t chartTemplates) read(name string) *templateReading {
	r := &templateReading{templates: t, seen: map[templateVisit]bool{}, calls: map[string]bool{}}
	r.template(name, false)
	return r
}

// templateReading gathers what templates say.
type templateReading struct {
	templates chartTemplates
	seen      map[templateVisit]bool
	// calls are the functions that are called somewhere.
	calls map[string]bool
	// asks are the values by which something is written or left out, each once: a.b for {{ if .Values.a.b }}.
	asks []string
}

// templateVisit is a template that was read; deciding says that what it writes is part of a condition.
type templateVisit struct {
	name     string
	deciding bool
}

func (r *templateReading) template(name string, deciding bool) {
	visit := templateVisit{name, deciding}
	tree := r.templates[name]
	if tree == nil || r.seen[visit] {
		return
	}
	r.seen[visit] = true
	r.node(tree.Root, deciding)
}

// node reads one node and those below it.
func (r *templateReading) node(node goparse.Node, deciding bool) {
	if field := valueOf(node); field != "" {
		if deciding && !slices.Contains(r.asks, field) {
			r.asks = append(r.asks, field)
		}
		return
	}
	switch node := node.(type) {
	case *goparse.ListNode:
		if node != nil {
			for _, below := range node.Nodes {
				r.node(below, deciding)
			}
		}
	case *goparse.IfNode:
		r.branch(&node.BranchNode, true, deciding)
	case *goparse.RangeNode:
		r.branch(&node.BranchNode, deciding, deciding)
	case *goparse.WithNode:
		r.branch(&node.BranchNode, deciding, deciding)
	case *goparse.ActionNode:
		r.node(node.Pipe, deciding)
	case *goparse.TemplateNode:
		r.template(node.Name, deciding)
		r.node(node.Pipe, deciding)
	case *goparse.ChainNode:
		r.node(node.Node, deciding)
	case *goparse.PipeNode:
		r.pipe(node, deciding)
	}
}

func (r *templateReading) branch(branch *goparse.BranchNode, condition, deciding bool) {
	r.node(branch.Pipe, condition)
	r.node(branch.List, deciding)
	r.node(branch.ElseList, deciding)
}

func (r *templateReading) pipe(pipe *goparse.PipeNode, deciding bool) {
	if pipe == nil {
		return
	}
	for _, command := range pipe.Cmds {
		for i, arg := range command.Args {
			function, ok := arg.(*goparse.IdentifierNode)
			if !ok {
				r.node(arg, deciding)
				continue
			}
			r.calls[function.Ident] = true
			if function.Ident == "include" && i+1 < len(command.Args) {
				if name, literal := command.Args[i+1].(*goparse.StringNode); literal {
					r.template(name.Text, deciding)
				}
			}
		}
	}
}

// valueOf returns the value that a node stands for, such as a.b for .Values.a.b; empty when it stands for none.
func valueOf(node goparse.Node) string {
	fields := fieldsOf(node)
	if len(fields) < 2 || fields[0] != "Values" {
		return ""
	}
	return strings.Join(fields[1:], ".")
}

// fieldsOf returns the fields of the root that a node follows: of .Values.a, $.Values.a and (.Values).a alike.
func fieldsOf(node goparse.Node) []string {
	switch node := node.(type) {
	case *goparse.FieldNode:
		return node.Ident
	case *goparse.VariableNode:
		if node.Ident[0] == "$" {
			return node.Ident[1:]
		}
	case *goparse.ChainNode:
		if below := fieldsOf(node.Node); below != nil {
			return append(slices.Clone(below), node.Field...)
		}
	case *goparse.PipeNode:
		if node != nil && len(node.Cmds) == 1 && len(node.Cmds[0].Args) == 1 && len(node.Decl) == 0 {
			return fieldsOf(node.Cmds[0].Args[0])
		}
	}
	return nil
}

// subchartOf returns where the root chart has the values of the chart that a file belongs to: sub.deep for a/charts/sub/charts/deep/x.yaml.
func subchartOf(file string) string {
	var names []string
	parts := strings.Split(file, "/")
	for at := 1; at+1 < len(parts) && parts[at] == "charts"; at += 2 {
		names = append(names, parts[at+1])
	}
	return strings.Join(names, ".")
}

// inRoot returns a value of a subchart as the root chart names it. Global values have one name everywhere.
func inRoot(file, value string) string {
	below := subchartOf(file)
	if below == "" || value == "global" || strings.HasPrefix(value, "global.") {
		return value
	}
	return below + "." + value
}
