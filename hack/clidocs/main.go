// Command clidocs writes the reference of the kyma commands, one page of Markdown for each or man pages, and the completions of shells.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/kyma-project/lifecycle-manager/internal/cli"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

func main() {
	markdown := flag.String("markdown", "", "`folder` for Markdown; what is in it goes first")
	man := flag.String("man", "", "`folder` for man pages")
	completions := flag.String("completions", "", "`folder` for the completions of bash, zsh, fish and PowerShell")
	flag.Parse()
	if err := write(*markdown, *man, *completions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(markdown, man, completions string) error {
	root := cli.New(&console.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, target.New())
	root.InitDefaultCompletionCmd()
	quiet(root)
	if markdown != "" {
		if err := pages(root, markdown); err != nil {
			return err
		}
	}
	if completions != "" {
		if err := complete(root, completions); err != nil {
			return err
		}
	}
	if man == "" {
		return nil
	}
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(root, &doc.GenManHeader{Title: "KYMA", Section: "1", Source: "kyma"}, man)
}

// complete writes a completion for each shell, under the name that the shell looks for.
func complete(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, generate := range map[string]func(io.Writer) error{
		"kyma.bash": func(out io.Writer) error { return root.GenBashCompletionV2(out, true) },
		"_kyma":     root.GenZshCompletion,
		"kyma.fish": func(out io.Writer) error { return root.GenFishCompletion(out, true) },
		"kyma.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var text bytes.Buffer
		if err := generate(&text); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// quiet disables the line that names the generator of a page and the date: it would change every day.
func quiet(command *cobra.Command) {
	command.DisableAutoGenTag = true
	for _, below := range command.Commands() {
		quiet(below)
	}
}

// pages writes one page per command. It empties the folder first, so that no page outlives its command.
func pages(root *cobra.Command, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return page(root, dir)
}

func page(command *cobra.Command, dir string) error {
	var text bytes.Buffer
	if err := doc.GenMarkdown(command, &text); err != nil {
		return err
	}
	name := strings.ReplaceAll(command.CommandPath(), " ", "_") + ".md"
	body := strings.TrimRight(text.String(), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
		return err
	}
	for _, below := range command.Commands() {
		if !below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := page(below, dir); err != nil {
			return err
		}
	}
	return nil
}
