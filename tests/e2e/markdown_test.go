package e2e

import (
	"bytes"

	"github.com/russross/blackfriday/v2"
)

// fence is a fenced block of a Markdown page.
type fence struct {
	language string
	text     string
}

// fences returns the fenced blocks of a page, in order.
func fences(page []byte) []fence {
	var all []fence
	document := blackfriday.New(blackfriday.WithExtensions(blackfriday.FencedCode)).Parse(page)
	document.Walk(func(node *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		if entering && node.Type == blackfriday.CodeBlock && node.IsFenced {
			all = append(all, fence{language: string(bytes.TrimSpace(node.Info)), text: string(node.Literal)})
		}
		return blackfriday.GoToNext
	})
	return all
}
