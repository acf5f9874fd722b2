//go:build !windows

package console

import "os"

// understandsEscapes reports whether a terminal understands escape sequences for colours and redrawn lines: all of them do.
func understandsEscapes(*os.File) bool { return true }
