package crash

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

// writes returns calls that change ConfigMaps of these names, a millisecond apart.
func writes(server string, from int, names ...string) []proxy.Call {
	var calls []proxy.Call
	for i, name := range names {
		calls = append(calls, proxy.Call{
			Server: server, Verb: "create", Resource: "configmaps", Namespace: "a", Name: name, Mutating: true,
			At: time.UnixMilli(int64(from + i)),
		})
	}
	return calls
}

func runs(of [][]proxy.Call) []Run {
	var runs []Run
	for _, calls := range of {
		runs = append(runs, Run{ID: "zq", Calls: calls})
	}
	return runs
}

func ids(points []Point) []string {
	var ids []string
	for _, point := range points {
		ids = append(ids, point.ID())
	}
	return ids
}

func TestPointsOf(t *testing.T) {
	lease := proxy.Call{Server: "hub", Verb: "update", Resource: "leases", Name: "l", Mutating: true}
	read := proxy.Call{Server: "hub", Verb: "get", Resource: "secrets", Name: "s"}
	for _, c := range []struct {
		name string
		runs [][]proxy.Call
		want []string
	}{
		{"every call that changes something is two points", [][]proxy.Call{writes("hub", 0, "x")}, []string{
			"install before hub: create configmaps a/x #1", "install after hub: create configmaps a/x #1",
		}},
		{"reads and heartbeats are not points", [][]proxy.Call{{lease, read}}, nil},
		{"a repeated call is counted", [][]proxy.Call{writes("hub", 0, "x", "x")}, []string{
			"install before hub: create configmaps a/x #1", "install after hub: create configmaps a/x #1",
			"install before hub: create configmaps a/x #2", "install after hub: create configmaps a/x #2",
		}},
		{"the Scenario's ID and hashes of it are replaced", [][]proxy.Call{writes("hub", 0, "greeter-zq-2", "kyma-zq-greeter-zq-123456")}, []string{
			"install before hub: create configmaps a/greeter-$id-2 #1", "install after hub: create configmaps a/greeter-$id-2 #1",
			"install before hub: create configmaps a/kyma-$id-greeter-$id-$hash #1", "install after hub: create configmaps a/kyma-$id-greeter-$id-$hash #1",
		}},
		{"calls of several servers are in chronological order", [][]proxy.Call{append(writes("hub", 5, "x"), writes("runtime-1", 0, "x")...)}, []string{
			"install before runtime-1: create configmaps a/x #1", "install after runtime-1: create configmaps a/x #1",
			"install before hub: create configmaps a/x #1", "install after hub: create configmaps a/x #1",
		}},
		{"calls of only the second run come last", [][]proxy.Call{writes("hub", 0, "x"), writes("hub", 0, "y", "x")}, []string{
			"install before hub: create configmaps a/x #1", "install after hub: create configmaps a/x #1",
			"install before hub: create configmaps a/y #1", "install after hub: create configmaps a/y #1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ids(PointsOf("install", runs(c.runs)...))); diff != "" {
				t.Error("points (-want +got):\n" + diff)
			}
		})
	}
}
