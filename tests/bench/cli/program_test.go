package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	maxStart     = 100 * time.Millisecond
	buildOverTar = 300 * time.Millisecond
)

// program is kyma: that of KYMA_PROGRAM, or one that is built.
func program(b *testing.B) string {
	b.Helper()
	if path := os.Getenv("KYMA_PROGRAM"); path != "" {
		return path
	}
	path := filepath.Join(b.TempDir(), "kyma")
	build := exec.CommandContext(b.Context(), "go", "build", "-ldflags=-s -w", "-o", path, "github.com/kyma-project/lifecycle-manager/cmd/kyma")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("cannot build kyma: %v: %s", err, out)
	}
	return path
}

// took runs a program and gives the time on the clock, and that of the processor, which other work on the machine does not lengthen.
func took(b *testing.B, dir string, name string, args ...string) (clock, processor time.Duration) {
	b.Helper()
	command := exec.CommandContext(b.Context(), name, args...)
	command.Dir = dir
	var said bytes.Buffer
	command.Stderr = &said
	begun := time.Now()
	if err := command.Run(); err != nil {
		b.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, said.String())
	}
	return time.Since(begun), command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}

// BenchmarkVersion takes the time of `kyma version`, which is that of the start.
func BenchmarkVersion(b *testing.B) {
	kyma := program(b)
	took(b, "", kyma, "version") // reads it from disk
	clock, processor := time.Hour, time.Hour
	for b.Loop() {
		c, p := took(b, "", kyma, "version")
		clock, processor = min(clock, c), min(processor, p)
	}
	b.ReportMetric(clock.Seconds()*1000, "clock-ms")
	b.ReportMetric(processor.Seconds()*1000, "processor-ms")
	if min(clock, processor) > maxStart {
		b.Errorf("the start takes %s, more than %s", clock, maxStart)
	}
}

// BenchmarkBuild takes the time of `kyma module build` for a module of 5 MB, beside that of tar and sha256sum for the same bytes.
func BenchmarkBuild(b *testing.B) {
	kyma, dir := program(b), b.TempDir()
	took(b, dir, kyma, "module", "init", "notes")
	enlarge(b, filepath.Join(dir, "notes", "manifest.yaml"))
	for _, archive := range []string{"notes.ctf", "notes.tar", "notes.tgz"} {
		b.Run(archive, func(b *testing.B) {
			clock, processor, theirs := time.Hour, time.Hour, time.Hour
			for b.Loop() {
				if err := os.RemoveAll(filepath.Join(dir, archive)); err != nil {
					b.Fatal(err)
				}
				c, p := took(b, dir, kyma, "module", "build", "notes", "-o", archive)
				clock, processor = min(clock, c), min(processor, p)
				c, _ = took(b, dir, "sh", "-c", "tar -cf - notes | sha256sum")
				theirs = min(theirs, c)
			}
			b.ReportMetric(clock.Seconds()*1000, "clock-ms")
			b.ReportMetric(processor.Seconds()*1000, "processor-ms")
			b.ReportMetric(theirs.Seconds()*1000, "tar-ms")
			if limit := 2*theirs + buildOverTar; min(clock, processor) > limit {
				b.Errorf("a build takes %s, more than %s", clock, limit)
			}
		})
	}
}

// enlarge adds ConfigMaps to a manifest until it has 5 MB. What is in them does not compress to nothing, and is the same in every run.
func enlarge(b *testing.B, manifest string) {
	b.Helper()
	text, err := os.ReadFile(manifest)
	if err != nil {
		b.Fatal(err)
	}
	all := bytes.NewBuffer(text)
	random := rand.NewChaCha8([32]byte{})
	for i := 0; all.Len() < 5<<20; i++ {
		fmt.Fprintf(all, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: big-%d, namespace: notes-system}\ndata:\n  blob: |\n", i)
		line := make([]byte, 75)
		for range 1000 {
			_, _ = random.Read(line)
			fmt.Fprintf(all, "    %s\n", base64.StdEncoding.EncodeToString(line))
		}
	}
	if err := os.WriteFile(manifest, all.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
}
