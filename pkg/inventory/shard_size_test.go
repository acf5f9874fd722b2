package inventory

import (
	"fmt"
	"slices"
	"testing"
)

func TestShardsAreHalvedUntilTheyFit(t *testing.T) {
	var entries []Entry
	for at := range 100 {
		entries = append(entries, Entry{ID: ID{Kind: "ConfigMap", Name: fmt.Sprintf("object-%04d", at)}, Version: "v1"})
	}
	for _, test := range []struct {
		name             string
		packed, unpacked int
		want             int
	}{
		{"all of them fit into one", 1 << 20, 1 << 20, 1},
		{"the compressed size is bounded", 150, 1 << 20, 8},
		{"the unpacked size is bounded too", 1 << 20, 3000, 2},
		{"an entry is never divided", 1, 1, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			shards := appendShards(nil, entries, test.packed, test.unpacked)
			if len(shards) != test.want {
				t.Errorf("got %d shards, want %d", len(shards), test.want)
			}
			var got []Entry
			for _, shard := range shards {
				part, err := Decode(shard.Data)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, part...)
			}
			if !slices.Equal(got, entries) {
				t.Errorf("got %d entries in another order or number", len(got))
			}
		})
	}
}
