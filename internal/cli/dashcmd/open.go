package dashcmd

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// openLink opens a link in the browser without disclosing it to other users of the machine: process lists show
// arguments, so the browser gets a file that only its owner can read, which redirects. closed deletes it.
func openLink(link string, opener func(string) error) (closed func(), err error) {
	dir, err := os.MkdirTemp("", "kyma-dashboard-")
	if err != nil {
		return func() {}, err
	}
	closed = func() { _ = os.RemoveAll(dir) }
	path := filepath.Join(dir, "open.html")
	const leadOn = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%[1]s\">Kyma dashboard</a>\n"
	page := fmt.Sprintf(leadOn, html.EscapeString(link))
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return closed, err
	}
	return closed, opener(path)
}

// openFile opens a file with the desktop's program for it.
func openFile(path string) error {
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	command := exec.Command(name, args...)
	if err := command.Start(); err != nil {
		return err
	}
	go func() { _ = command.Wait() }()
	return nil
}
