package console

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes reports whether a terminal understands escape sequences for colours and redrawn lines. A console window of Windows
// does so only after a program has asked for it.
func understandsEscapes(file *os.File) bool {
	terminal := windows.Handle(file.Fd())
	var mode uint32
	return windows.GetConsoleMode(terminal, &mode) == nil &&
		windows.SetConsoleMode(terminal, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
