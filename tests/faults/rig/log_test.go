package rig

import (
	"path/filepath"
	"testing"
)

func TestLog_ADumpIsNoLineOfTheLog(t *testing.T) {
	log, err := newLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	write := func(text string) {
		if _, err := log.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"msg\":\"one\"}\nunstructured\nfatal error: out of memory\ngoroutine 1:\n")
	if got := log.Lines(); got != 2 {
		t.Errorf("%d lines, want 2", got)
	}
	write("{\"msg\":\"another thread\"}\ngoroutine 2:\n\tmain.main()\n")
	if got := log.Lines(); got != 3 {
		t.Errorf("%d lines after one in the middle of the dump, want 3", got)
	}
	log.begin()
	write("unstructured\n")
	if got := log.Lines(); got != 4 {
		t.Errorf("%d lines with one of the next process, want 4", got)
	}
}
