package assets_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server/assets"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(assets.Files(), name)
	if err != nil {
		t.Fatalf("the page has no %s: run npm ci && npm run build in web/: %v", name, err)
	}
	return string(data)
}

// The server's Content-Security-Policy allows no inline script, no inline style without a nonce and no handler in an attribute.
func TestPageHasNothingInline(t *testing.T) {
	page := read(t, "index.html")
	for _, script := range regexp.MustCompile(`(?is)<script([^>]*)>(.*?)</script>`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(script[1], `src="/assets/`) || strings.TrimSpace(script[2]) != "" {
			t.Errorf("a script is not a file of ours: %s", script[0])
		}
	}
	for _, inline := range []string{`(?i)<style`, `(?i)\sstyle=`, `(?i)\son[a-z]+=`, `(?i)javascript:`} {
		if found := regexp.MustCompile(inline).FindString(page); found != "" {
			t.Errorf("index.html has %q", found)
		}
	}
	if got := strings.Count(page, "__NONCE__"); got != 1 {
		t.Errorf("index.html has the placeholder of the nonce %d times, not once", got)
	}
}

// loads are the ways in which a file can make a browser fetch something.
var loads = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?:src|href|action|poster|srcset)\s*=\s*["']?((?:https?:)?//[^"'\s>]+)`),
	regexp.MustCompile(`(?i)url\(\s*["']?((?:https?:)?//[^"')\s]+)`),
	regexp.MustCompile(`(?i)@import\s+(?:url\()?["']?((?:https?:)?//[^"')\s]+)`),
	regexp.MustCompile(`(?:import|from)\s*\(?\s*["']((?:https?:)?//[^"']+)`),
	regexp.MustCompile(`(?:fetch|EventSource|WebSocket|sendBeacon|importScripts|Worker)\(\s*["'` + "`" + `]((?:[a-z]+:)?//[^"'` + "`" + `]+)`),
}

func TestAssets_NothingComesFromElsewhere(t *testing.T) {
	err := fs.WalkDir(assets.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text := read(t, name)
		for _, pattern := range loads {
			for _, found := range pattern.FindAllStringSubmatch(text, -1) {
				t.Errorf("%s loads from elsewhere: %s", name, found[0])
			}
		}
		for _, forbidden := range []string{"sourceMappingURL", "eval(", "new Function("} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Browsers keep files below assets/ forever, so each has a hash in its name; index.html names only files that are there.
func TestNames(t *testing.T) {
	hashed := regexp.MustCompile(`-[A-Za-z0-9_-]{8}\.(?:js|css|svg|woff2)$`)
	entries, err := fs.ReadDir(assets.Files(), "assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !hashed.MatchString(entry.Name()) {
			t.Errorf("%s has no hash in its name", entry.Name())
		}
	}
	for _, named := range regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllStringSubmatch(read(t, "index.html"), -1) {
		if read(t, path.Clean(named[1])) == "" {
			t.Errorf("%s is empty", named[1])
		}
	}
}
