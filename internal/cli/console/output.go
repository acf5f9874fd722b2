package console

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
)

// Format is how data is written.
type Format string

// The formats of -o.
const (
	Table Format = "table"
	Wide  Format = "wide"
	JSON  Format = "json"
	YAML  Format = "yaml"
	Name  Format = "name"
)

// AllFormats are the formats of -o unless a command limits them; the first is the default.
var AllFormats = []Format{Table, Wide, JSON, YAML, Name}

// Formats is the value of an -o flag. It refuses formats that are not in Allowed.
type Formats struct {
	Format
	Allowed []Format
}

// OutputFlag returns a Formats for a command that can write these formats; none means AllFormats.
func OutputFlag(allowed ...Format) *Formats {
	if len(allowed) == 0 {
		allowed = AllFormats
	}
	return &Formats{Format: allowed[0], Allowed: allowed}
}

// String returns the format, for package pflag.
func (f *Formats) String() string { return string(f.Format) }

// Type returns the word in the help text.
func (f *Formats) Type() string { return "format" }

// Set sets the format.
func (f *Formats) Set(value string) error {
	if !slices.Contains(f.Allowed, Format(value)) {
		return fmt.Errorf("use one of %s", f.Words())
	}
	f.Format = Format(value)
	return nil
}

// Words lists the formats.
func (f *Formats) Words() string {
	words := make([]string, len(f.Allowed))
	for i, format := range f.Allowed {
		words[i] = string(format)
	}
	return strings.Join(words, "|")
}

// Column is one column of a table.
type Column struct {
	// Name is in capitals, as in the tables of kubectl.
	Name string
	// Wide columns are shown by -o wide only.
	Wide bool
	// State reports whether cells are states, which have colours.
	State bool
}

// Document is the output of a command, in every format that it can have.
type Document struct {
	// Data is for json and yaml. It has fields apiVersion and kind, which are a contract with programs; see Versioned.
	Data any
	// Columns and Rows are for table and wide; a row has a cell for each column.
	Columns []Column
	Rows    [][]string
	// Names are for name, one a line, such as module/beacon.
	Names []string
	// Empty is printed for users, on standard error, if there are no rows.
	Empty string
}

// APIVersion is the version of every document that kyma writes as json or yaml. It changes when a field is removed or changes its
// meaning.
const APIVersion = "cli.kyma-project.io/v1"

// Versioned holds the first two fields of every such document; embed it inline.
type Versioned struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Kind returns the Versioned of a kind.
func Kind(kind string) Versioned { return Versioned{APIVersion: APIVersion, Kind: kind} }

// Print writes a document to standard output.
func (c *Console) Print(format Format, d Document) error {
	switch format {
	case JSON:
		encoder := json.NewEncoder(c.Out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(d.Data)
	case YAML:
		text, err := yaml.Marshal(d.Data)
		if err != nil {
			return err
		}
		_, err = c.Out.Write(text)
		return err
	case Name:
		for _, name := range d.Names {
			if _, err := fmt.Fprintln(c.Out, name); err != nil {
				return err
			}
		}
		return nil
	case Table, Wide:
		return c.table(format == Wide, d)
	}
	return fmt.Errorf("there is no format %q", format)
}

// table writes columns and rows. Colours are added once the widths are known: they must not count.
func (c *Console) table(wide bool, d Document) error {
	if len(d.Rows) == 0 {
		if d.Empty != "" {
			c.Sayf("%s", d.Empty)
		}
		return nil
	}
	var text strings.Builder
	writer := printers.GetNewTabWriter(&text)
	var head []string
	for _, column := range d.Columns {
		if wide || !column.Wide {
			head = append(head, column.Name)
		}
	}
	fmt.Fprintln(writer, strings.Join(head, "\t"))
	for _, row := range d.Rows {
		var cells []string
		for i, column := range d.Columns {
			if wide || !column.Wide {
				cells = append(cells, clean(row[i]))
			}
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	if err := writer.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(c.Out, c.paint(trimmed(text.String()), d.Columns))
	return err
}

// clean makes a cell one line, without control characters for the terminal: texts of modules are untrusted.
func clean(cell string) string {
	if cell == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, cell)
}

// OneLine makes foreign text one line, without control characters for the terminal.
func OneLine(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimSpace(clean(text))
}

// trimmed removes blanks at the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
