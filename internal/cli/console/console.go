package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Console connects a command with its user. Create it with Of, or set the fields in a test.
type Console struct {
	// In provides answers, passwords and documents named "-".
	In io.Reader
	// Out takes data, Err everything else.
	Out, Err io.Writer
	// Asks reports whether prompts are possible: In and Err are a terminal.
	Asks bool
	// Live reports whether lines on Err can be redrawn.
	Live bool
	// Color reports whether Out may be coloured.
	Color bool
	// Yes answers every question that --yes is allowed to answer.
	Yes bool
	// Width is how many columns a line of Err may have, and Height how many lines can be redrawn; 0 means unknown.
	Width, Height int
}

// Of returns the console of this process. NO_COLOR and TERM=dumb are honoured.
func Of(in, out, err *os.File) *Console {
	draws := func(file *os.File) bool {
		return term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" && understandsEscapes(file)
	}
	width, height, _ := term.GetSize(int(err.Fd())) // 0 if it is no terminal
	return &Console{
		In: in, Out: out, Err: err,
		Asks:  term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(err.Fd())),
		Live:  draws(err),
		Color: os.Getenv("NO_COLOR") == "" && draws(out),
		Width: width, Height: height,
	}
}

// Sayf writes one line for users.
func (c *Console) Sayf(format string, args ...any) {
	fmt.Fprintf(c.Err, format+"\n", args...)
}
