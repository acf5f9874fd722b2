package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// shownLine matches a command of kyma at the beginning of a line of a code block, and shownSpan one in a code span.
	shownLine = regexp.MustCompile(`(?m)^\s*(?:\$ )?(kyma .*)$`)
	shownSpan = regexp.MustCompile("`(kyma [^`]*)`")
	// word matches what could be a command, and flag a flag with or without its value.
	word = regexp.MustCompile(`^[a-z][a-z-]*$`)
	flag = regexp.MustCompile(`^--[a-z][a-z-]*`)
)

// ends are what ends a command on a line.
var ends = []string{"|", "||", "#", "&&", ";", ">"}

// notOurs begin what pages show of other programs, or of a sentence.
var notOurs = []string{"kyma alpha ", "kyma create ", "kyma get", "kyma is "}

// Commands finds commands of kyma in pages that the reference does not have, or which have no such flag there.
func Commands(tree *Tree) []string {
	const reference = "docs/reference/cli/"
	commands := map[string]string{}
	var others []string
	for _, page := range pages(tree.Root) {
		name, is := strings.CutPrefix(filepath.ToSlash(page), reference)
		if !is {
			others = append(others, page)
			continue
		}
		text, err := os.ReadFile(filepath.Join(tree.Root, page))
		if err != nil {
			return []string{page + ": cannot be read: " + err.Error()}
		}
		commands[strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "_", " ")] = string(text)
	}
	var found []string
	for _, page := range others {
		if page == "CHANGELOG.md" { // which tells of what is no more
			continue
		}
		text, err := os.ReadFile(filepath.Join(tree.Root, page))
		if err != nil {
			return append(found, page+": cannot be read: "+err.Error())
		}
		for _, shown := range commandsIn(string(text)) {
			if wrong := unknownCommand(commands, shown); wrong != "" {
				found = append(found, fmt.Sprintf("%s: shows %q, and %s", page, shown, wrong))
			}
		}
	}
	return found
}

// commandsIn lists the commands of kyma that a page shows.
func commandsIn(page string) []string {
	var shown []string
	for _, block := range fence.FindAllString(page, -1) {
		for _, match := range shownLine.FindAllStringSubmatch(block, -1) {
			shown = append(shown, match[1])
		}
	}
	for _, match := range shownSpan.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		shown = append(shown, match[1])
	}
	return slices.DeleteFunc(shown, func(command string) bool {
		return slices.ContainsFunc(notOurs, func(begin string) bool { return strings.HasPrefix(command, begin) })
	})
}

// unknownCommand says what the reference lacks of a command; "" for nothing.
func unknownCommand(commands map[string]string, shown string) string {
	name, rest := "kyma", strings.Fields(shown)[1:]
	for len(rest) > 0 {
		if _, known := commands[name+" "+rest[0]]; !known {
			break
		}
		name, rest = name+" "+rest[0], rest[1:]
	}
	isGroup := func(other string) bool { return strings.HasPrefix(other, name+" ") }
	for other := range commands {
		if isGroup(other) && len(rest) > 0 && word.MatchString(rest[0]) {
			return fmt.Sprintf("%s has no command %s", name, rest[0])
		}
	}
	for _, part := range rest {
		if slices.Contains(ends, part) {
			return ""
		}
		if given := flag.FindString(part); given != "" && !strings.Contains(commands[name], given) {
			return fmt.Sprintf("%s has no flag %s", name, given)
		}
	}
	return ""
}
