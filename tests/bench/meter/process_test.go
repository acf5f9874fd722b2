package meter

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestProcess_WhatThisProcessUses(t *testing.T) {
	before, err := Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if before.PSS < 1<<20 || before.RSS < before.PSS || before.Peak < before.RSS/2 || before.Threads < 2 || before.Files < 3 {
		t.Errorf("this process uses %+v", before)
	}
	held := make([]byte, 192<<20)
	after := before
	for end := time.Now().Add(time.Minute); after.Since(before).CPU < 300*time.Millisecond && time.Now().Before(end); {
		for i := range held {
			held[i]++
		}
		if after, err = Of(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	spent := after.Since(before)
	if spent.CPU < 300*time.Millisecond || spent.CPU > 10*time.Second || spent.PSS < 128<<20 || len(held) == 0 {
		t.Errorf("work on 192 MiB cost %s and %d bytes", spent.CPU, spent.PSS)
	}
	if cores := after.Cores(before); cores <= 0 || cores > 64 {
		t.Errorf("%g cores were busy", cores)
	}
	if after.Cores(after) != 0 {
		t.Error("in no time, cores were busy")
	}
}

func TestProcess_TheNameOfAProgramMayHoldAnything(t *testing.T) {
	folder := t.TempDir()
	const stat = "77 (a) S (b c) S 1 2 3 4 5 6 7 8 9 10 150 50 13 14 20 0 9 19 20\n"
	if err := os.WriteFile(folder+"/stat", []byte(stat), 0o600); err != nil {
		t.Fatal(err)
	}
	var u Usage
	if err := processor(folder, &u); err != nil || u.CPU != 2*time.Second || u.Threads != 9 {
		t.Errorf("got %s and %d threads, %v", u.CPU, u.Threads, err)
	}
}

func TestProcess_AProcessIsFollowedUntilItEnds(t *testing.T) {
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	track := Follow(t.Context(), cat.Process.Pid, 5*time.Millisecond)
	<-time.After(time.Second)
	_ = in.Close()
	_ = cat.Wait()
	<-time.After(5 * time.Second) // a busy machine notices late that it ended
	seen, err := track.Stop()
	if len(seen) < 2 || err == nil || !strings.Contains(err.Error(), "cannot tell what process") {
		t.Errorf("%d readings, %v", len(seen), err)
	}
	if top := Peak(seen); top.RSS == 0 || top.Files < 3 || !top.At.Equal(seen[len(seen)-1].At) {
		t.Errorf("the peak is %+v", top)
	}
}

func TestFollowingEndsWhenAsked(t *testing.T) {
	track := Follow(t.Context(), os.Getpid(), time.Millisecond)
	<-time.After(3 * time.Second)
	if seen, err := track.Stop(); len(seen) < 2 || err != nil {
		t.Errorf("%d readings, %v", len(seen), err)
	}
}
