package inventory

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// InlineLimit is how many entries an inventory keeps in the status of its Manifest. There, 1,000 entries are about 300 KiB; more would
	// bring the object near the 1.5 MiB that etcd accepts, and each status write carries all of them.
	InlineLimit = 1000

	// shardEntries is the initial number of entries in a shard; it is halved until the limits hold.
	shardEntries = 4000
	// packedLimit is below the 1 MiB that a Secret may hold.
	packedLimit = 900 << 10
	// unpackedLimit bounds what Decode unpacks: a shard is read from the cluster and may be forged.
	unpackedLimit = 10 << 20
)

// Shard holds a part of an inventory that is too large for a status.
type Shard struct {
	// Name is a suffix derived from the content. A shard that changes gets another name, so shards can be written before the list that names
	// them, and an interrupted write leaves the old ones intact. It does not depend on the compression.
	Name string
	// Data is gzip-compressed JSON.
	Data []byte
}

// Split divides an inventory into the part for the status and, when there are more than InlineLimit entries, shards for the rest.
// Inline and the decoded shards, in this order, are the inventory sorted by identity.
func Split(entries []Entry) (inline []Entry, shards []Shard) {
	entries = sorted(slices.Clone(entries))
	if len(entries) <= InlineLimit {
		return entries, nil
	}
	for chunk := range slices.Chunk(entries[InlineLimit:], shardEntries) {
		shards = appendShards(shards, chunk, packedLimit, unpackedLimit)
	}
	return entries[:InlineLimit:InlineLimit], shards
}

// appendShards packs entries into one shard, or into several when one would be too large. A single entry is never too large: the API server
// accepts no names of that length.
func appendShards(shards []Shard, entries []Entry, packed, unpacked int) []Shard {
	shard, size := pack(entries)
	if len(entries) > 1 && (len(shard.Data) > packed || size > unpacked) {
		half := len(entries) / 2
		shards = appendShards(shards, entries[:half], packed, unpacked)
		return appendShards(shards, entries[half:], packed, unpacked)
	}
	return append(shards, shard)
}

// pack also returns the size of the uncompressed data.
func pack(entries []Entry) (Shard, int) {
	plain, packed := encode(entries)
	sum := sha256.Sum256(plain)
	return Shard{Name: hex.EncodeToString(sum[:hashBytes]), Data: packed}, len(plain)
}

// encode returns JSON, and the same compressed. Writing to memory cannot fail, so its errors are ignored.
func encode(entries []Entry) (plain, packed []byte) {
	plain, _ = json.Marshal(entries) //nolint:errchkjson // an entry is made of strings, which can always be encoded
	var data bytes.Buffer
	packer := gzip.NewWriter(&data)
	_, _ = packer.Write(plain)
	_ = packer.Close()
	return plain, data.Bytes()
}

// Encode returns entries as gzip-compressed JSON, which Decode reads.
func Encode(entries []Entry) []byte {
	_, packed := encode(entries)
	return packed
}

// Decode reads the data of a shard. It does not trust the data: it bounds the unpacked size, and refuses an entry without kind, name or
// version, because a delete would rely on it.
func Decode(data []byte) ([]Entry, error) {
	unpacker, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("inventory shard: no gzip data: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpacker, unpackedLimit+1))
	if err != nil {
		return nil, fmt.Errorf("inventory shard: cut short or damaged: %w", err)
	}
	if len(plain) > unpackedLimit {
		return nil, fmt.Errorf("inventory shard: unpacks to more than %d bytes", unpackedLimit)
	}
	var entries []Entry
	if err := json.Unmarshal(plain, &entries); err != nil {
		return nil, fmt.Errorf("inventory shard: no list of entries: %w", err)
	}
	for at, entry := range entries {
		if err := complete(entry); err != nil {
			return nil, fmt.Errorf("inventory shard: entry %d: %w", at+1, err)
		}
	}
	return entries, nil
}

func complete(entry Entry) error {
	switch {
	case entry.Kind == "":
		return errors.New("kind is missing")
	case entry.Name == "":
		return fmt.Errorf("name of a %s is missing", entry.Kind)
	case entry.Version == "":
		return fmt.Errorf("version of %s is missing", entry.ID)
	}
	return nil
}
