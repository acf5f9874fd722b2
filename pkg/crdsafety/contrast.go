package crdsafety

import "github.com/kyma-project/lifecycle-manager/pkg/excerpt"

// changef reports that a text changes, and shows both texts where they differ. The format has a verb for each.
func (c *comparison) changef(rule, path, format, before, after string) {
	before, after = contrast(before, after)
	c.addf(rule, path, format, orNone(before), orNone(after))
}

// contrast shortens two texts of definitions to the part where they differ.
func contrast(before, after string) (was, is string) { return excerpt.Pair(before, after, quotedBytes) }

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
