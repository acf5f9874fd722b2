package shards

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

func TestManagersShareTheKymasAndWriteEachOnce(t *testing.T) {
	one := start(t, "one")
	shared(t, longer, one)
	kymas := subjects(t, 12)
	ready(t, longer, "1.0.0", kymas...)

	two, three := start(t, "two"), start(t, "three")
	removeLast(t, kymas)
	shared(t, longer, one, two, three)
	managers := []*manager{one, two, three}
	for _, m := range managers {
		m.set(func() { m.wrote = map[string]int{} })
	}
	upgrade("2.0.0", kymas...)
	ready(t, longer, "2.0.0", kymas...)

	writers := map[string]string{}
	for _, m := range managers {
		m.set(func() {
			for name := range maps.Keys(m.wrote) {
				if other := writers[name]; other != "" {
					t.Errorf("Manifest %s was written by %s and by %s", name, other, m.name)
				}
				writers[name] = m.name
			}
			if len(m.wrote) == 0 {
				t.Errorf("%s had no share of the work", m.name)
			}
		})
	}
	if len(writers) != len(kymas) {
		t.Errorf("%d of %d Manifests were written", len(writers), len(kymas))
	}
	for _, m := range managers {
		if fenced := m.metric("lifecycle_mgr_fenced_writes_total"); fenced != 0 {
			t.Errorf("%s was refused %d writes although nothing went wrong", m.name, fenced)
		}
	}
	silentAtRest(t, managers...)
	anEndIsNoFailover(t, managers, func() { upgrade("3.0.0", kymas...) }, func() { ready(t, longer, "3.0.0", kymas...) })
}

// silentAtRest sees that only heartbeats remain, and that their number is that of the replicas: in each period one write and one list by
// each, and a second write by the one that assigns. There are four times as many Kymas. A busy machine may have one of them doubted for a
// moment, so one such time is enough.
func silentAtRest(t *testing.T, managers ...*manager) {
	t.Helper()
	total := func() (calls, leases int) {
		for _, m := range managers {
			m.set(func() {
				calls += m.calls + m.runtime
				leases += m.leases
			})
		}
		return calls, leases
	}
	last, before := total()
	since := time.Now()
	eventually(t, longer, func() error {
		if now, leases := total(); now != last {
			last, before, since = now, leases, time.Now()
		}
		took := time.Since(since)
		if took < 3*time.Second {
			return fmt.Errorf("quiet for %s", took)
		}
		_, leases := total()
		periods := int(took/retry) + 2 // one that began before, and one that has begun
		sent, most := leases-before, (2*len(managers)+1)*periods
		if sent == 0 || sent > most {
			before, since = leases, time.Now()
			return fmt.Errorf("%d calls for heartbeats in %s, want at most %d", sent, took, most)
		}
		return nil
	})
}

// anEndIsNoFailover ends a manager, which hands its share on before it goes: no one waits for its lease.
func anEndIsNoFailover(t *testing.T, managers []*manager, change, done func()) {
	t.Helper()
	change()
	managers[0].stop()
	begun := time.Now()
	shared(t, lease, managers[1:]...)
	t.Logf("the others had the share of one that ended %s after its end", time.Since(begun).Round(time.Millisecond))
	done()
	if holder := held(t, "893110f7.kyma-project.io").Spec.HolderIdentity; holder == nil || *holder == "" {
		t.Error("no one stands for the managers that are left")
	}
}

func TestShards_AManagerThatIsCutOffStopsBeforeOthersTakeOver(t *testing.T) {
	one := start(t, "one")
	shared(t, longer, one)
	kymas := subjects(t, 8)
	ready(t, longer, "1.0.0", kymas...)
	two := start(t, "two")
	removeLast(t, kymas)
	shared(t, longer, one, two)

	// The one that assigns goes, in the middle of an upgrade: its writes to the runtime are held in its hands.
	release := make(chan struct{})
	one.set(func() { one.hold = release })
	upgrade("2.0.0", kymas...)
	eventually(t, longer, func() (err error) {
		one.set(func() {
			if one.held == 0 {
				err = errors.New("nothing is under way")
			}
		})
		return err
	})
	one.set(func() { one.cut = true })
	begun := time.Now()
	eventually(t, renew+grace, func() error {
		taken := two.buckets() // read first: what is seen taken was let go before
		if owned := one.buckets(); owned > 0 {
			if taken > sharding.Buckets/2 {
				t.Fatal("the other one took over before this one had stopped")
			}
			return fmt.Errorf("it still works on %d buckets", owned)
		}
		return nil
	})
	stopped := time.Since(begun)
	shared(t, lease+grace-stopped, two)
	t.Logf("it stopped after %s, the other one had taken over after %s, with a lease of %s",
		stopped.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond), lease)
	ready(t, longer, "2.0.0", kymas...)

	// What it had in its hands continues now, and is not sent.
	answered := 0
	one.set(func() { answered = one.runtime; one.hold = nil })
	close(release)
	eventually(t, longer, func() error {
		if one.metric("lifecycle_mgr_fenced_writes_total") == 0 {
			return errors.New("no write was refused")
		}
		return nil
	})
	one.set(func() {
		if one.runtime != answered {
			t.Errorf("%d writes to the runtime were sent after the end of its time", one.runtime-answered)
		}
		one.cut = false
	})
	shared(t, longer, one, two)
	upgrade("3.0.0", kymas...)
	ready(t, longer, "3.0.0", kymas...)
}
