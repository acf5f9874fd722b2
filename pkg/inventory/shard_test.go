package inventory_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// many returns n entries with hashes and UIDs that do not compress, as in reality.
func many(random *rand.Rand, n int) []inventory.Entry {
	entries := make([]inventory.Entry, n)
	for at := range entries {
		entries[at] = inventory.Entry{
			ID:      inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "kyma-system", Name: fmt.Sprintf("object-%08d", at)},
			Version: "v1", UID: types.UID(fmt.Sprintf("%016x-%016x", random.Uint64(), random.Uint64())),
			Hash: fmt.Sprintf("%016x", random.Uint64()), Fields: fmt.Sprintf("a:%016x", random.Uint64()),
		}
	}
	return entries
}

func packed(t testing.TB, plain string) []byte {
	t.Helper()
	var data bytes.Buffer
	packer := gzip.NewWriter(&data)
	if _, err := packer.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// joined joins the parts of a split inventory.
func joined(t testing.TB, inline []inventory.Entry, shards []inventory.Shard) []inventory.Entry {
	t.Helper()
	all := append([]inventory.Entry(nil), inline...)
	for _, shard := range shards {
		entries, err := inventory.Decode(shard.Data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entries...)
	}
	return all
}

func TestSplitRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, test := range []struct {
		name            string
		entries, shards int
	}{
		{"an empty inventory has no shard", 0, 0},
		{"a small one stays in the status", 20, 0},
		{"a full status needs no shard yet", inventory.InlineLimit, 0},
		{"one entry more makes a shard", inventory.InlineLimit + 1, 1},
		{"a very large one makes several", 20_000, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := many(random, test.entries)
			given := append([]inventory.Entry(nil), want...)
			random.Shuffle(len(given), func(a, b int) { given[a], given[b] = given[b], given[a] })
			first := append([]inventory.Entry(nil), given...)

			inline, shards := inventory.Split(given)
			if len(inline) != min(test.entries, inventory.InlineLimit) || len(shards) != test.shards {
				t.Fatalf("got %d inline and %d shards", len(inline), len(shards))
			}
			if !slices.Equal(want, joined(t, inline, shards)) {
				t.Error("the parts are not the sorted inventory")
			}
			if !slices.Equal(first, given) {
				t.Error("the input was changed")
			}
			for _, shard := range shards {
				if len(shard.Data) > 900<<10 {
					t.Errorf("shard %s has %d bytes", shard.Name, len(shard.Data))
				}
			}
		})
	}
}

func TestSplitNamesShardsByTheirContent(t *testing.T) {
	entries := many(rand.New(rand.NewPCG(6, 6)), 10_000)
	_, before := inventory.Split(entries)
	_, same := inventory.Split(entries)
	if !slices.EqualFunc(before, same, func(a, b inventory.Shard) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) {
		t.Error("the same inventory made other shards")
	}
	entries[9_999].Hash = "changed"
	_, after := inventory.Split(entries)
	for at := range before {
		if last := at == len(before)-1; (before[at].Name != after[at].Name) != last {
			t.Errorf("shard %d: %s became %s", at+1, before[at].Name, after[at].Name)
		}
		if len(before[at].Name) != 16 {
			t.Errorf("shard %d is called %q", at+1, before[at].Name)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	damaged := packed(t, `[{"kind":"ConfigMap","name":"a","version":"v1"}]`)
	damaged = damaged[:len(damaged)-4]
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "no gzip data"},
		{"uncompressed data", []byte(`[]`), "no gzip data"},
		{"truncated data", damaged, "cut short or damaged"},
		{"data that unpacks to too much", packed(t, strings.Repeat(" ", 10<<20+1)), "unpacks to more than 10485760 bytes"},
		{"what is no JSON", packed(t, `[{`), "no list of entries"},
		{"JSON that is not a list", packed(t, `{"kind":"ConfigMap"}`), "no list of entries"},
		{"two lists", packed(t, `[][]`), "no list of entries"},
		{"an entry without kind", packed(t, `[{"kind":"ConfigMap","name":"a","version":"v1"},{"name":"a","version":"v1"}]`),
			"entry 2: kind is missing"},
		{"an entry without name", packed(t, `[{"kind":"ConfigMap","version":"v1"}]`), "entry 1: name of a ConfigMap is missing"},
		{"an entry without version", packed(t, `[{"kind":"ConfigMap","name":"a"}]`), "entry 1: version of ConfigMap a is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			entries, err := inventory.Decode(test.data)
			if err == nil || !strings.Contains(err.Error(), test.want) || entries != nil {
				t.Errorf("got %v and the error %v, want %q", entries, err, test.want)
			}
		})
	}
}

func TestDecodeAcceptsFieldsOfALaterRelease(t *testing.T) {
	got, err := inventory.Decode(packed(t, `[{"kind":"ConfigMap","name":"a","version":"v1","later":true}]`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]inventory.Entry{{ID: inventory.ID{Kind: "ConfigMap", Name: "a"}, Version: "v1"}}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzDecode passes data to the unpacker as it is, and packed to the decoder behind it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`[{"kind":"ConfigMap","name":"a","version":"v1"}]`))
	f.Add([]byte(`[{"group":"apps","kind":"Deployment","namespace":"b","name":"a","version":"v1","uid":"1","hash":"2","fields":"a:3"}]`))
	f.Add(packed(f, `[]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = inventory.Decode(data)
		entries, err := inventory.Decode(packed(t, string(data)))
		if err != nil {
			return
		}
		for _, entry := range entries {
			if entry.Kind == "" || entry.Name == "" || entry.Version == "" {
				t.Fatalf("accepted %+v", entry)
			}
		}
		plain, err := json.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		again, err := inventory.Decode(packed(t, string(plain)))
		if diff := cmp.Diff(entries, again); err != nil || diff != "" {
			t.Fatalf("%v: %s", err, diff)
		}
	})
}
