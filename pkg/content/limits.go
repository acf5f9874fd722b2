package content

// Limits are the limits of one piece of content. A zero field means its value in DefaultLimits.
type Limits struct {
	// Packed is the largest accepted size in bytes as fetched and stored.
	Packed int64
	// Unpacked is the largest accepted size in bytes after decompression.
	Unpacked int64
	// Entries is the largest accepted number of entries of an archive.
	Entries int
	// Ratio is the largest accepted ratio of unpacked and packed size.
	Ratio int64
}

// DefaultLimits apply to zero fields. Etcd accepts objects of about a mebibyte, and a module has dozens of them.
var DefaultLimits = Limits{Packed: 64 << 20, Unpacked: 256 << 20, Entries: 10_000, Ratio: 200}

// OrDefault returns the limits with the defaults in place of zero fields.
func (l Limits) OrDefault() Limits {
	if l.Packed <= 0 {
		l.Packed = DefaultLimits.Packed
	}
	if l.Unpacked <= 0 {
		l.Unpacked = DefaultLimits.Unpacked
	}
	if l.Entries <= 0 {
		l.Entries = DefaultLimits.Entries
	}
	if l.Ratio <= 0 {
		l.Ratio = DefaultLimits.Ratio
	}
	return l
}
