package helm

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	goparse "text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

const (
	stepFunction = "lifecycleManagerStep"
	textFunction = "lifecycleManagerText"
	endFunction  = "lifecycleManagerEnd"
	// maxActions bounds the "{{" of one template, and by that how deep a template can nest its blocks.
	maxActions = 50_000
)

// instrument makes the templates of the chart and its subcharts ask these bounds at every turn of a loop and in every template that is
// called, because the engine itself would loop for ever and recurse until the process dies:
//
//  1. Each body of a range, each defined template and each file begins with a call of step. It writes nothing.
//  2. The text for tpl, which is a template of its own, goes through text, which does the same to it.
//  3. Each file names itself at its beginning and says where it ends, unless it is a partial one, which is rendered only as part of others.
//
// The chart comes with its subcharts as they are rendered: one that is there under two names is two. White space stays as it was: before a
// "{{-" the call trims as that did.
func (b *templateBounds) instrument(c *chart.Chart) error {
	templates := make([]*common.File, 0, len(c.Templates))
	for _, file := range c.Templates {
		text, err := instrumented(string(file.Data), fileName(c, file))
		if err != nil {
			return invalidChart("%s of chart %s %w", file.Name, c.Name(), err)
		}
		templates = append(templates, &common.File{Name: file.Name, ModTime: file.ModTime, Data: []byte(text)})
	}
	c.Templates = templates // the files are shared by the charts that were one
	for _, subchart := range c.Dependencies() {
		if err := b.instrument(subchart); err != nil {
			return err
		}
	}
	return nil
}

// fileName names a file below the root chart, whose own name may change: templates/a.yaml, charts/sub/templates/a.yaml. It is empty for a
// partial file.
func fileName(c *chart.Chart, file *common.File) string {
	if strings.HasPrefix(path.Base(file.Name), "_") {
		return ""
	}
	_, name, _ := strings.Cut(path.Join(c.ChartFullPath(), file.Name), "/")
	return name
}

// instrumented leaves a text that cannot be parsed alone: the engine says what is wrong with it. The file is that of the text, if it is
// one.
func instrumented(text, file string) (string, error) {
	if count := strings.Count(text, "{{"); count == 0 {
		return text, nil
	} else if count > maxActions {
		return "", fmt.Errorf("has more than %d template actions", maxActions)
	}
	root := goparse.New("\x00")
	root.Mode = goparse.SkipFuncCheck
	trees := map[string]*goparse.Tree{}
	if _, err := root.Parse(text, "", "", trees); err != nil {
		return text, nil //nolint:nilerr // the engine reports it with the place
	}
	trees[root.Name] = root
	i := instrumenter{text: text}
	for _, tree := range trees {
		// A definition without content does not replace one that has some: it must stay without.
		if goparse.IsEmptyTree(tree.Root) {
			continue
		}
		if tree == root && file != "" {
			i.step(tree.Root, strconv.Quote(file))
			end := len(strings.TrimRight(text, "{")) // a brace before the call would be part of it
			i.insertions = append(i.insertions, insertion{end, "{{" + endFunction + "}}"})
		} else {
			i.step(tree.Root)
		}
		i.walk(tree.Root)
	}
	return i.rewritten(), nil
}

// instrumenter gathers what is put into a text, and where.
type instrumenter struct {
	text       string
	insertions []insertion
}

type insertion struct {
	at   int
	text string
}

// rewritten returns the text with the insertions.
func (i *instrumenter) rewritten() string {
	slices.SortStableFunc(i.insertions, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	from := 0
	for _, insertion := range i.insertions {
		text.WriteString(i.text[from:insertion.at])
		text.WriteString(insertion.text)
		from = insertion.at
	}
	text.WriteString(i.text[from:])
	return text.String()
}

// step puts a call of step at the beginning of a list, with the length of what the list writes itself, and what else it gets.
func (i *instrumenter) step(list *goparse.ListNode, more ...string) {
	at := int(list.Position())
	call := strings.Join(append([]string{stepFunction, strconv.Itoa(written(list))}, more...), " ") + "}}"
	if rest := i.text[at:]; len(rest) > 3 && strings.HasPrefix(rest, "{{-") && strings.IndexByte(" \t\r\n", rest[3]) >= 0 {
		call = "{{- " + call
	} else {
		call = "{{" + call
	}
	i.insertions = append(i.insertions, insertion{at, call})
}

// written returns how many bytes of text the list writes when all its branches are taken, without its loops, which are counted at each
// turn.
func written(list *goparse.ListNode) int {
	if list == nil {
		return 0
	}
	size := 0
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *goparse.TextNode:
			size += len(node.Text)
		case *goparse.IfNode:
			size += written(node.List) + written(node.ElseList)
		case *goparse.WithNode:
			size += written(node.List) + written(node.ElseList)
		case *goparse.RangeNode:
			size += written(node.ElseList)
		}
	}
	return size
}

// walk finds the loops and the calls of tpl below a node.
func (i *instrumenter) walk(node goparse.Node) {
	switch node := node.(type) {
	case *goparse.ListNode:
		if node != nil {
			for _, below := range node.Nodes {
				i.walk(below)
			}
		}
	case *goparse.RangeNode:
		i.step(node.List)
		i.branch(&node.BranchNode)
	case *goparse.IfNode:
		i.branch(&node.BranchNode)
	case *goparse.WithNode:
		i.branch(&node.BranchNode)
	case *goparse.ActionNode:
		i.walk(node.Pipe)
	case *goparse.TemplateNode:
		i.walk(node.Pipe)
	case *goparse.ChainNode:
		i.walk(node.Node)
	case *goparse.PipeNode:
		i.pipe(node)
	}
}

func (i *instrumenter) branch(node *goparse.BranchNode) {
	i.walk(node.Pipe)
	i.walk(node.List)
	i.walk(node.ElseList)
}

func (i *instrumenter) pipe(pipe *goparse.PipeNode) {
	if pipe == nil {
		return
	}
	for _, command := range pipe.Cmds {
		if name, ok := command.Args[0].(*goparse.IdentifierNode); ok && name.Ident == "tpl" && len(command.Args) > 1 {
			i.tpl(int(name.Position()) + len(name.Ident))
		}
		for _, arg := range command.Args {
			i.walk(arg)
		}
	}
}

// tpl wraps the first argument after from.
func (i *instrumenter) tpl(from int) {
	start := from + len(i.text[from:]) - len(strings.TrimLeft(i.text[from:], " \t\r\n"))
	end := start + operandLength(i.text[start:])
	i.insertions = append(i.insertions, insertion{start, "(" + textFunction + " "}, insertion{end, ")"})
}

// operandLength returns how long the operand at the beginning of text is. Positions of nodes do not tell where they end.
func operandLength(text string) int {
	depth, quote := 0, byte(0)
	for at := 0; at < len(text); at++ {
		char := text[at]
		switch {
		case quote != 0:
			if char == '\\' && quote != '`' {
				at++
			} else if char == quote {
				quote = 0
			}
		case char == '"' || char == '`' || char == '\'':
			quote = char
		case char == '(':
			depth++
		case char == ')' && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(" \t\r\n|)}", char) >= 0:
			return at
		}
	}
	return len(text)
}
