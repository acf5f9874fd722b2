package content

import (
	"archive/tar"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smallLimits make bombs of a size that tests can afford.
var smallLimits = Limits{Packed: 1 << 20, Unpacked: 4 << 20, Entries: 20, Ratio: 50}

// header returns a tar header as bytes, with fields overwritten as no tool would write them. The checksum is right again afterwards.
func header(t testing.TB, name string, size int, overwrite map[int]string) string {
	t.Helper()
	block := []byte(archive(t, entry{name: name, data: strings.Repeat("x", size)})[:512])
	for at, text := range overwrite {
		copy(block[at:], text)
	}
	copy(block[148:156], "        ")
	sum := 0
	for _, each := range block {
		sum += int(each)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return string(block)
}

// base256 returns a size as tar writes what octal digits cannot hold.
func base256(size uint64) string {
	return "\x80\x00\x00\x00" + string(binary.BigEndian.AppendUint64(nil, size))
}

const (
	sizeField = 124
	typeField = 156
)

// malicious archives, each of which hides something from a user or exhausts its reader.
func malicious(t testing.TB) map[string]struct{ data, reason string } {
	of := func(entries ...entry) string { return archive(t, entries...) }
	good, end := entry{name: "m.yaml", data: "hello"}, strings.Repeat("\x00", 1024)
	file := func(name string) string { return of(good, entry{name: name, data: "x"}) }
	many := make([]entry, 21)
	for i := range many {
		many[i] = entry{name: fmt.Sprintf("f%d", i)}
	}
	nothing := strings.Repeat("\x00", 2<<20)
	return map[string]struct{ data, reason string }{
		"a parent":                            {file("../x"), ReasonArchiveRefused},
		"a parent further in":                 {file("a/../../x"), ReasonArchiveRefused},
		"a parent that stays inside":          {file("a/../x"), ReasonArchiveRefused},
		"a parent at the end":                 {file("a/.."), ReasonArchiveRefused},
		"a folder that is a parent":           {of(good, entry{name: "../", kind: tar.TypeDir}), ReasonArchiveRefused},
		"an absolute name":                    {file("/etc/passwd"), ReasonArchiveRefused},
		"an absolute name with two slashes":   {file("//etc/passwd"), ReasonArchiveRefused},
		"a name of Windows":                   {file(`..\x`), ReasonArchiveRefused},
		"a drive of Windows":                  {file(`C:\x`), ReasonArchiveRefused},
		"an empty name":                       {file(""), ReasonArchiveRefused},
		"the name of the root":                {file("."), ReasonArchiveRefused},
		"the name of the root by a detour":    {file("./."), ReasonArchiveRefused},
		"a name with a line break":            {file("a\nb"), ReasonArchiveRefused},
		"a name that clears the terminal":     {file("a\x1b[2Jb"), ReasonArchiveRefused},
		"a name that is no UTF-8":             {file("a\xffb"), ReasonArchiveRefused},
		"a name of a kibibyte":                {file(strings.Repeat("a/b", 400)), ReasonArchiveRefused},
		"a name of half a mebibyte":           {file(strings.Repeat("abc/", 1<<17) + "x"), ReasonArchiveRefused},
		"a name of a hundred folders":         {file(strings.Repeat("a/", 100) + "x"), ReasonArchiveRefused},
		"a symbolic link":                     {of(good, entry{name: "l", kind: tar.TypeSymlink, link: "/etc/passwd"}), ReasonArchiveRefused},
		"a symbolic link inside":              {of(good, entry{name: "l", kind: tar.TypeSymlink, link: "m.yaml"}), ReasonArchiveRefused},
		"a link, and a file through it":       {of(entry{name: "l", kind: tar.TypeSymlink, link: "/tmp"}, entry{name: "l/x"}), ReasonArchiveRefused},
		"a hard link":                         {of(good, entry{name: "l", kind: tar.TypeLink, link: "m.yaml"}), ReasonArchiveRefused},
		"a character device":                  {of(good, entry{name: "d", kind: tar.TypeChar}), ReasonArchiveRefused},
		"a block device":                      {of(good, entry{name: "d", kind: tar.TypeBlock}), ReasonArchiveRefused},
		"a pipe":                              {of(good, entry{name: "p", kind: tar.TypeFifo}), ReasonArchiveRefused},
		"an unknown kind":                     {of(good, entry{name: "p", kind: 'Z'}), ReasonArchiveRefused},
		"a contiguous file":                   {of(good, entry{name: "p", kind: tar.TypeCont}), ReasonArchiveRefused},
		"a name twice":                        {of(good, good), ReasonArchiveRefused},
		"a name twice by a detour":            {of(good, entry{name: "./m.yaml", data: "other"}), ReasonArchiveRefused},
		"a name twice by slashes":             {of(entry{name: "a/b"}, entry{name: "a//b"}), ReasonArchiveRefused},
		"a file below a file":                 {of(entry{name: "a"}, entry{name: "a/b"}), ReasonArchiveRefused},
		"a file above a file":                 {of(entry{name: "a/b"}, entry{name: "a"}), ReasonArchiveRefused},
		"a folder that is a file":             {of(entry{name: "a"}, entry{name: "a/", kind: tar.TypeDir}), ReasonArchiveRefused},
		"a file that is a folder":             {of(entry{name: "a/", kind: tar.TypeDir}, entry{name: "a"}), ReasonArchiveRefused},
		"too many files":                      {of(many...), ReasonArchiveRefused},
		"too many folders":                    {strings.Repeat(of(entry{name: "a/", kind: tar.TypeDir})[:512], 21) + of(good), ReasonArchiveRefused},
		"too many headers of git":             {strings.Repeat(of(entry{name: "g", kind: tar.TypeXGlobalHeader})[:1024], 21) + of(good), ReasonArchiveRefused},
		"a bomb of zeros":                     {zip(t, of(good, entry{name: "z", data: nothing + nothing[:1<<20]})), ReasonArchiveRefused},
		"a bomb in many files":                {zip(t, of(entry{name: "a", data: nothing}, entry{name: "b", data: nothing})), ReasonArchiveRefused},
		"a bomb behind the end":               {zip(t, of(good)+nothing+nothing), ReasonArchiveRefused},
		"a bomb in many streams":              {strings.Repeat(zip(t, nothing[:1<<20]), 5), ReasonArchiveRefused},
		"a bomb in what macOS adds":           {zip(t, of(good, entry{name: "._z", data: nothing + nothing[:1<<20]})), ReasonArchiveRefused},
		"more than the limit, not compressed": {zip(t, of(entry{name: "a", data: noise(3 << 19)})+noise(3<<20)), ReasonContentTooLarge},
		"a size over the limit":               {header(t, "a", 1, map[int]string{sizeField: "00777777777"}) + "hello", ReasonContentTooLarge},
		"a size of exbibytes":                 {header(t, "a", 1, map[int]string{sizeField: base256(1 << 62)}) + "hello", ReasonContentTooLarge},
		"a size below zero":                   {header(t, "a", 1, map[int]string{sizeField: "\xff" + strings.Repeat("\xff", 11)}) + "hello", ReasonContentInvalid},
		"a size that is no number":            {header(t, "a", 1, map[int]string{sizeField: "hello world"}) + end, ReasonContentInvalid},
		"a size that is more than there is":   {header(t, "a", 1, map[int]string{sizeField: "00000100000"}) + "hello", ReasonContentInvalid},
		"a sparse file of old GNU tar":        {header(t, "a", 0, map[int]string{typeField: "S", 257: "ustar  \x00"}) + end, ReasonArchiveRefused},
		"a file with a slash at its end":      {header(t, "a", 0, map[int]string{0: "a/", typeField: "0"}) + end, ReasonArchiveRefused},
		"a wrong checksum":                    {strings.Replace(file("n"), "hello", "hullo", 1)[1:] + "x", ReasonContentInvalid},
		"a second archive behind the first":   {of(good) + of(entry{name: "hidden"}), ReasonArchiveRefused},
		"a text behind the archive":           {of(good) + "apiVersion: v1", ReasonArchiveRefused},
		"a text behind a gzip":                {zip(t, of(good)) + "apiVersion: v1", ReasonContentInvalid},
		"a gzip that is cut":                  {zip(t, of(good))[:60], ReasonContentInvalid},
		"a gzip without its checksum":         {strings.TrimSuffix(zip(t, of(good)), zip(t, of(good))[len(zip(t, of(good)))-8:]), ReasonContentInvalid},
		"a gzip with a wrong checksum":        {zip(t, of(good))[:len(zip(t, of(good)))-8] + "12345678", ReasonContentInvalid},
		"a gzip in a gzip":                    {zip(t, zip(t, of(good))), ReasonContentInvalid},
		"a header that is cut":                {of(good)[:300], ReasonContentInvalid},
		"a file that is cut":                  {of(good)[:514], ReasonContentInvalid},
		"compressed with zstd":                {"\x28\xb5\x2f\xfd" + of(good), ReasonContentInvalid},
		"compressed with xz":                  {"\xfd7zXZ\x00" + of(good), ReasonContentInvalid},
		"a zip":                               {"PK\x03\x04" + strings.Repeat("x", 600), ReasonContentInvalid},
		"no archive":                          {strings.Repeat("apiVersion: v1\n", 100), ReasonContentInvalid},
		"nothing at all":                      {"", ReasonContentInvalid},
		"nothing but zeros":                   {end, ReasonContentInvalid},
		"nothing but folders":                 {of(entry{name: "a/", kind: tar.TypeDir}), ReasonContentInvalid},
		"nothing but what macOS adds":         {of(entry{name: "a/._b", data: "x"}), ReasonContentInvalid},
	}
}

// The one who hands such an archive over as a file or as the layer of an image is refused, by every reader, again when it is tried again,
// and again after a process died when it had all bytes and had not yet named them.
func TestMaliciousArchivesAreRefused(t *testing.T) {
	all := malicious(t)
	if len(all) < 50 {
		t.Fatalf("%d archives, want 50 and more", len(all))
	}
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			if got, err := unpackText(t, test.data, smallLimits); ReasonOf(err) != test.reason || got != nil || len(err.Error()) > 600 {
				t.Errorf("as a file: tree %v, error %v with reason %q, want %q", got != nil, err, ReasonOf(err), test.reason)
			}
			on := newShelf()
			source, host, _ := serve(t, on)
			source.Store.Limits = smallLimits
			on.manifest(t, on.layer(test.data))
			for _, when := range []string{"at first", "again", "after a crash"} {
				if when == "after a crash" {
					source = crashed(t, source, test.data)
				}
				if got, err := fetchImage(t, source, host); ReasonOf(err) != test.reason || got != nil || len(err.Error()) > 900 {
					t.Errorf("%s: tree %v, error %v with reason %q, want %q", when, got != nil, err, ReasonOf(err), test.reason)
				}
			}
			onlyVerified(t, source.Store)
		})
	}
}

// crashed returns what a new process finds when the one before it was killed between download and rename.
func crashed(t testing.TB, source *OCI, data string) *OCI {
	t.Helper()
	name := filepath.Join(source.Store.tempDir(), strings.TrimPrefix(digestOf(data), digestPrefix)+"-123")
	write(t, name, data)
	if err := os.Remove(source.Store.path(strings.TrimPrefix(digestOf(data), digestPrefix))); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return &OCI{Store: &Store{Dir: source.Store.Dir, Limits: source.Store.Limits}, Registries: source.Registries}
}

// onlyVerified holds that everything in the store is what its name says.
func onlyVerified(t *testing.T, store *Store) {
	t.Helper()
	for _, path := range files(t, store) {
		if filepath.Dir(path) != store.contentDir() {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil || digestOf(string(data)) != digestPrefix+filepath.Base(path) {
			t.Errorf("%s holds something else (%v)", path, err)
		}
	}
}
