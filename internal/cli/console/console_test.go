package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recorded returns a console that writes into buffers.
func recorded(in string) (c *Console, out, err *bytes.Buffer) {
	out, err = &bytes.Buffer{}, &bytes.Buffer{}
	return &Console{In: strings.NewReader(in), Out: out, Err: err}, out, err
}

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		said string
	}{
		"no error is 0 and says nothing":                 {nil, 0, ""},
		"any error is 1":                                 {errors.New("boom"), 1, "Error: boom\n"},
		"a wrapped failure keeps its code":               {fmt.Errorf("add notes: %w", NotFound("no module notes")), 4, "Error: add notes: no module notes\n"},
		"a usage error is 64 and has its hint on a line": {Usage("which Kyma?").With("use --kyma"), 64, "Error: which Kyma?\nHint: use --kyma\n"},
		"a timeout is 3":                                 {TimedOut("not ready within 1 s"), 3, "Error: not ready within 1 s\n"},
		"a deadline is a timeout":                        {fmt.Errorf("get kyma: %w", context.DeadlineExceeded), 3, "Error: get kyma: context deadline exceeded\n"},
		"Ctrl-C is 130 and no error":                     {fmt.Errorf("watch: %w", context.Canceled), 130, "Interrupted.\n"},
		"a quiet end has a code and no message":          {Quiet(CodeWarning), 2, ""},
		"a quiet end with code 0 is none":                {Quiet(CodeOK), 0, ""},
		"a file that does not exist is 4, whatever it was for": {
			Usage("--trust: %w", &fs.PathError{Op: "open", Path: "x.pem", Err: syscall.ENOENT}), 4, "Error: --trust: open x.pem: no such file or directory\n",
		},
		"so is an object that the API server does not find": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "x"), 4, "Error: namespaces \"x\" not found\n",
		},
		"a timeout stays one, whatever did not come": {TimedOut("no file: %w", fs.ErrNotExist), 3, "Error: no file: file does not exist\n"},
		"similar names are a hint": {
			NotFound("there is no module helo").Known("modules", []string{"hello"}, []string{"notes", "hello", "notes"}), 4,
			"Error: there is no module helo\nHint: did you mean hello? Known modules: hello, notes\n",
		},
		"a name unlike any other lists all names": {
			NotFound("there is no module x").Known("modules", nil, []string{"hello"}), 4, "Error: there is no module x\nHint: known modules: hello\n",
		},
		"without any names there is no hint": {NotFound("there is no module x").Known("modules", nil, nil), 4, "Error: there is no module x\n"},
		"a question that cannot be asked": {
			(&Console{}).Confirm(context.Background(), "deleting hello from Kyma a/x", "Delete hello from Kyma a/x?"), 64,
			"Error: deleting hello from Kyma a/x needs confirmation, and there is no terminal\nHint: --yes confirms it\n",
		},
		"a word that cannot be typed": {
			(&Console{}).ConfirmTyped(context.Background(), "installing hello directly", "Sure?", "hello", "--unmanaged --yes", false), 64,
			"Error: installing hello directly needs confirmation, and there is no terminal\nHint: --unmanaged --yes confirms it\n",
		},
		"the text of an error ends where its sentence ends": {fmt.Errorf("boom%s", "\n\n"), 1, "Error: boom\n"},
	} {
		t.Run(name, func(t *testing.T) {
			console, out, said := recorded("")
			if got := console.Fail(c.err); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			if diff := cmp.Diff(c.said, said.String()); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
			if out.Len() > 0 {
				t.Errorf("wrote %q to standard output: that is for data", out)
			}
		})
	}
}

func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		yes, asks bool
		answer    string
		code      int
	}{
		"yes goes on":                                {asks: true, answer: "y\n", code: 0},
		"the whole word goes on too":                 {asks: true, answer: "YES\n", code: 0},
		"Enter alone is no":                          {asks: true, answer: "\n", code: 1},
		"the end of input is no":                     {asks: true, answer: "", code: 1},
		"--yes is not asked":                         {yes: true, code: 0},
		"without a terminal nothing waits for input": {answer: "y\n", code: 64},
	} {
		t.Run(name, func(t *testing.T) {
			console, _, _ := recorded(c.answer)
			console.Yes, console.Asks = c.yes, c.asks
			if got := Code(console.Confirm(t.Context(), "deleting notes", "Delete notes?")); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
		})
	}
}

func TestTypedQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		given, asks, yes bool
		answer           string
		code             int
	}{
		"the word goes on":                  {asks: true, answer: "notes\n", code: 0},
		"another word does not":             {asks: true, answer: "yes\n", code: 1},
		"--yes alone is not enough":         {yes: true, asks: true, answer: "\n", code: 1},
		"the flags that say the same are":   {given: true, code: 0},
		"without a terminal it is an error": {code: 64},
	} {
		t.Run(name, func(t *testing.T) {
			console, _, _ := recorded(c.answer)
			console.Asks, console.Yes = c.asks, c.yes
			err := console.ConfirmTyped(t.Context(), "installing notes", "The manager will not upgrade notes.", "notes", "--unmanaged --yes", c.given)
			if got := Code(err); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
		})
	}
}

// blocked is an input that never arrives.
type blocked struct{ forever chan struct{} }

func (b blocked) Read([]byte) (int, error) { <-b.forever; return 0, nil }

func TestInterruptedQuestion(t *testing.T) {
	console, _, _ := recorded("")
	forever := make(chan struct{})
	defer close(forever)
	console.Asks, console.In = true, blocked{forever}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Code(console.Confirm(ctx, "that", "Sure?")); got != CodeInterrupted {
		t.Errorf("exit code %d, want %d", got, CodeInterrupted)
	}
}

// items returns a document like those of commands.
func items() Document {
	type item struct {
		Name  string `json:"name"`
		State string `json:"state"`
	}
	return Document{
		Data: struct {
			Versioned `json:",inline"`
			Items     []item `json:"items"`
		}{Kind("ThingList"), []item{{"notes", "Ready"}, {"beacon", "Error"}}},
		Columns: []Column{{Name: "NAME"}, {Name: "STATE", State: true}, {Name: "MESSAGE", Wide: true}},
		Rows:    [][]string{{"notes", "Ready", ""}, {"beacon", "Error", "image\x1b[2Jpull\nfailed"}},
		Names:   []string{"module/notes", "module/beacon"},
		Empty:   "There are no things.",
	}
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		format Format
		want   string
	}{
		"a table leaves out wide columns": {Table, "NAME     STATE\nnotes    Ready\nbeacon   Error\n"},
		"a wide table has them all, and untrusted text cannot control the terminal": {
			Wide, "NAME     STATE   MESSAGE\nnotes    Ready   -\nbeacon   Error   image [2Jpull failed\n",
		},
		"names are one a line": {Name, "module/notes\nmodule/beacon\n"},
		"json has a version": {JSON, `{
  "apiVersion": "cli.kyma-project.io/v1",
  "kind": "ThingList",
  "items": [
    {
      "name": "notes",
      "state": "Ready"
    },
    {
      "name": "beacon",
      "state": "Error"
    }
  ]
}
`},
		"yaml is the same": {YAML, `apiVersion: cli.kyma-project.io/v1
items:
- name: notes
  state: Ready
- name: beacon
  state: Error
kind: ThingList
`},
	} {
		t.Run(name, func(t *testing.T) {
			console, out, said := recorded("")
			if err := console.Print(c.format, items()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if said.Len() > 0 {
				t.Errorf("wrote %q to standard error", said)
			}
		})
	}
}

func TestEmptyTable(t *testing.T) {
	console, out, said := recorded("")
	document := items()
	document.Rows = nil
	if err := console.Print(Table, document); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 || said.String() != "There are no things.\n" {
		t.Errorf("standard output %q and standard error %q: that there is nothing is for people only", out, said)
	}
}

func TestColour(t *testing.T) {
	console, out, _ := recorded("")
	console.Color = true
	if err := console.Print(Table, items()); err != nil {
		t.Fatal(err)
	}
	want := "NAME     STATE\nnotes    \x1b[32mReady\x1b[0m\nbeacon   \x1b[31mError\x1b[0m\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("colours move no column (-want +got):\n%s", diff)
	}
}

func TestUnknownFormat(t *testing.T) {
	flag := OutputFlag(Table, JSON)
	if err := flag.Set("yaml"); err == nil || !strings.Contains(err.Error(), "table|json") {
		t.Errorf("got %v, want an error that lists the formats", err)
	}
	if err := flag.Set("json"); err != nil || flag.Format != JSON {
		t.Errorf("json was refused: %v", err)
	}
}

func TestProgress(t *testing.T) {
	t.Run("without a terminal every change is one line", func(t *testing.T) {
		console, _, said := recorded("")
		progress := console.Progress()
		progress.Set("notes", "Processing", "1 of 2 objects")
		progress.Set("notes", "Processing", "1 of 2 objects")
		progress.Set("notes", "Ready", "")
		progress.End()
		want := "Processing   notes: 1 of 2 objects\nReady        notes\n"
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("on a terminal lines are redrawn, and cut so that each stays one", func(t *testing.T) {
		console, _, said := recorded("")
		console.Live, console.Width = true, 24
		progress := console.Progress()
		progress.Set("notes", "Processing", "a long story")
		if !progress.Cut() {
			t.Error("a line that was cut is not told")
		}
		progress.Set("notes", "Ready", "")
		progress.End()
		if progress.Cut() {
			t.Error("no line that stands there at the end is cut")
		}
		want := "\x1b[2KProcessing   notes: a …\n\x1b[1A\x1b[2KReady        notes\n"
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("lines without room in the window are counted, and shown at the end", func(t *testing.T) {
		console, _, said := recorded("")
		console.Live, console.Height = true, 3
		progress := console.Progress()
		progress.Set("notes", "Processing", "")
		progress.Set("beacon", "Processing", "")
		progress.Set("greeter", "Ready", "")
		said.Reset()
		progress.Set("notes", "Ready", "")
		progress.End()
		want := "\x1b[2A\x1b[2K...          2 more\n\x1b[2KReady        notes\n" +
			"\x1b[2A\x1b[2KReady        notes\n\x1b[2KProcessing   beacon\n\x1b[2KReady        greeter\n"
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
