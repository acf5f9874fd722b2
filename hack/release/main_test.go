package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseOptions_Refuses(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no version":                    {nil, "which version?"},
		"a version with a v":            {[]string{"-version", "v1.2.3"}, "semantic versioning"},
		"a version of two numbers":      {[]string{"-version", "1.2"}, "semantic versioning"},
		"a version with build metadata": {[]string{"-version", "1.2.3+build.7"}, "leave out +build.7"},
		"a prefix with a scheme":        {[]string{"-version", "1.2.3", "-images", "https://registry.example.com"}, "without a scheme"},
		"a registry with a path":        {[]string{"-version", "1.2.3", "-registry", "https://registry.example.com/modules"}, "is no host: write host[:port]"},
		"a registry that no flag takes": {[]string{"-version", "1.2.3", "-registry", "registry.example.com."}, "is no host: write host[:port]"},
		"a download without TLS":        {[]string{"-version", "1.2.3", "-download", "http://example.com"}, "https only"},
		"an argument":                   {[]string{"-version", "1.2.3", "now"}, `unexpected argument "now"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseOptions(tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if o, err := parseOptions([]string{"-version", "1.3.0-rc.1"}); err != nil || o.version != "1.3.0-rc.1" {
		t.Errorf("a candidate gave %q, %v", o.version, err)
	}
}

func TestParsePlatforms(t *testing.T) {
	for name, tc := range map[string]struct {
		list string
		want []platform
		err  string
	}{
		"several, with blanks": {"linux/amd64, windows/arm64", []platform{{"linux", "amd64"}, {"windows", "arm64"}}, ""},
		"none":                 {"", nil, "write os/arch"},
		"one without an arch":  {"linux", nil, "write os/arch"},
		"one twice":            {"linux/amd64,linux/amd64", nil, "named twice"},
		"none for images":      {"darwin/arm64", nil, "images need linux"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parsePlatforms(tc.list)
			if !slices.Equal(got, tc.want) || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, %v; want %v, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestReadSigner_SaysWhichFileIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.pem")
	if _, err := readSigner(file); err == nil || !strings.Contains(err.Error(), "key to sign with") {
		t.Errorf("a key that is not there: %v", err)
	}
	if err := os.WriteFile(file, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSigner(file); err == nil || !strings.Contains(err.Error(), "key.pem") {
		t.Errorf("a file without a key: %v", err)
	}
	if key, err := readSigner(""); key != nil || err != nil {
		t.Errorf("no file gave %v, %v", key, err)
	}
}

func TestReadSource_ReadsTheCommitAndRefusesChanges(t *testing.T) {
	root := t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = root
		command.Env = append(os.Environ(), "GIT_AUTHOR_DATE=@1700000000 +0200", "GIT_COMMITTER_DATE=@1700000001 +0200",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	if _, err := readSource(t.Context(), root); err == nil || !strings.Contains(err.Error(), "git status") {
		t.Errorf("a folder without git: %v", err)
	}
	write("a")
	run("init", "--quiet")
	run("add", "a")
	run("-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "A")
	got, err := readSource(t.Context(), root)
	if err != nil || len(got.commit) != 40 || !got.time.Equal(time.Unix(1_700_000_001, 0)) {
		t.Errorf("got %+v, %v", got, err)
	}
	write("b")
	if _, err := readSource(t.Context(), root); err == nil || !strings.Contains(err.Error(), "?? b") {
		t.Errorf("a change that no commit has: %v", err)
	}
}
