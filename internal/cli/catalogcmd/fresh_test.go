package catalogcmd

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

// freshness returns the freshness of the catalog in a folder.
func (s *shell) freshness(dir string) communitycatalog.Freshness {
	s.Helper()
	found, err := communitycatalog.Parse([]byte(s.read(dir + "/all-modules.yaml")))
	if err != nil {
		s.Fatal(err)
	}
	return found.Freshness
}

// TestBuildSaysHowFreshItIs with a key or if a flag sets it, and in no other case.
func TestBuildSaysHowFreshItIs(t *testing.T) {
	s := open(t)
	s.folderWith("1.0.0")
	s.keyPair("ours")
	epoch := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Second)
	for name, c := range map[string]struct {
		flags string
		epoch bool
		want  communitycatalog.Freshness
	}{
		"nothing is signed":                {"", false, communitycatalog.Freshness{}},
		"nothing is signed, at a set time": {"", true, communitycatalog.Freshness{}},
		"set, and not signed": {
			"--version 7 --expires 2126-01-31", false, communitycatalog.Freshness{Version: 7, Expires: time.Date(2126, 1, 31, 0, 0, 0, 0, time.UTC)},
		},
		"signed, at a set time":         {"--key ours.pem", true, communitycatalog.Freshness{Version: epoch.Unix(), Expires: epoch.AddDate(0, 0, 180)}},
		"signed, and all is set":        {"--key ours.pem --version 7 --expires 30d", true, communitycatalog.Freshness{Version: 7, Expires: epoch.AddDate(0, 0, 30)}},
		"signed, and without an expiry": {"--key ours.pem --version 7 --expires never", false, communitycatalog.Freshness{Version: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.epoch {
				t.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(epoch.Unix(), 10))
			}
			s.says(0, "catalog build --to dist "+c.flags)
			if diff := cmp.Diff(c.want, s.freshness("dist")); diff != "" {
				t.Error(diff)
			}
			s.says(0, "catalog build --to dist --check "+c.flags, "unchanged")
		})
	}
	before := time.Now().Unix()
	s.says(0, "catalog build --to now --key ours.pem")
	said := s.freshness("now")
	if said.Version < before || said.Version > time.Now().Unix() || said.Expires.Unix() != time.Unix(said.Version, 0).UTC().AddDate(0, 0, 180).Unix() {
		t.Errorf("from %d on: %+v", before, said)
	}
	s.says(0, "catalog build --to now --check", "unchanged") // without the key, as for a pull request
	s.folderWith("1.1.0")
	s.says(1, "catalog build --to now --check --key ours.pem", "not what the folder gives")
}

func TestAgesThatMakeNoSense(t *testing.T) {
	s := open(t)
	s.folderWith("1.0.0")
	s.keyPair("ours")
	for _, c := range []struct{ flags, word string }{
		{"--version -1", "--version=-1"}, {"--version 1000000000000000000", "is no version"}, {"--expires soon", "--expires=soon"},
		{"--expires 0d", "180d"}, {"--expires -3d", "180d"}, {"--expires 9999999999999999999d", "180d"}, {"--expires 2020-01-01", "would have expired"},
	} {
		s.says(64, "catalog build --to dist "+c.flags, c.word)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	s.says(64, "catalog build --to dist --key ours.pem", "would have expired", "SOURCE_DATE_EPOCH")
	if _, err := os.Stat("dist"); err == nil {
		t.Error("something was written")
	}
}

// TestFresh_AnOldCatalogIsRefused if a newer one of the source was seen, although its signature is valid.
func TestFresh_AnOldCatalogIsRefused(t *testing.T) {
	s, _, namespace := onCluster(t)
	in := " -n " + namespace
	s.keyPair("ours")
	s.folderWith("1.0.0")
	build := "catalog build --expires 2126-01-31 --key ours.pem --to "
	s.says(0, build+"www --version 7")
	s.says(0, build+"old --version 7")
	url := s.served("www") + "/all-modules.yaml"
	s.says(0, "catalog source add ours --key ours.pub "+url+near+in, "by key")
	s.says(0, "catalog source list -o wide"+in, " 7 ")
	s.folderWith("1.1.0")
	s.says(0, build+"www --version 8")
	s.says(0, "catalog source test ours"+near+in, "1.1.0", "Version: 8", "Expires: 2126-01-31T00:00:00Z")
	s.says(0, "catalog source list -o wide"+in, " 8 ")
	for _, file := range []string{"/all-modules.yaml", "/all-modules.yaml.sig"} {
		s.write("www"+file, s.read("old"+file))
	}
	s.says(1, "catalog source test ours"+near+in, "CatalogOutdated", url, "is version 7, and version 8 of it was seen", "remove the source and add it again")
	s.says(0, "catalog source list"+in, "is version 7")
	s.says(0, "catalog source test --key ours.pub "+url+near, "1.0.0") // not as the stored source
	s.says(0, "catalog source remove ours"+in)
	s.says(0, "catalog source add ours --key ours.pub "+url+near+in, "by key")
	var tested tried
	if err := json.Unmarshal([]byte(s.says(0, "catalog source test ours -o json"+near+in)), &tested); err != nil || tested.Version != 7 || tested.Expires == nil {
		t.Errorf("%v %+v", err, tested)
	}
}

// TestFresh_ACatalogThatIsOver is refused, also with a valid signature; and for one without a version and an expiry there is a warning.
func TestFresh_ACatalogThatIsOver(t *testing.T) {
	s, _, namespace := onCluster(t)
	in := " -n " + namespace
	key := s.keyPair("ours")
	s.folderWith("1.0.0")
	serve := func(options communitycatalog.BuildOptions) {
		t.Helper()
		made, err := communitycatalog.Build(os.DirFS("."), options)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := communitycatalog.Sign(key, made.YAML)
		if err != nil {
			t.Fatal(err)
		}
		s.write("www/all-modules.yaml", string(made.YAML))
		s.write("www/all-modules.yaml.sig", signature)
	}
	url := s.served("www") + "/all-modules.yaml"
	serve(communitycatalog.BuildOptions{Version: 7, Expires: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)})
	s.says(1, "catalog source add ours --key ours.pub "+url+near+in, "CatalogExpired", "expired on 2026-01-31T00:00:00Z", "Ask who publishes it")
	serve(communitycatalog.BuildOptions{}) // as catalogs were built and signed before there were versions
	s.says(1, "catalog source add ours --require-freshness --key ours.pub "+url+near+in, "CatalogOutdated", "no version and no expiry")
	s.says(0, "catalog source add ours --key ours.pub "+url+near+in, "Warning:", "no version and no expiry", "by key")
	text := s.says(0, "catalog source test ours -o json"+near+in)
	var tested tried
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):strings.LastIndex(text, "}")+1]), &tested); err != nil || tested.Warning == "" {
		t.Errorf("%v %+v", err, tested)
	}
	s.says(64, "catalog source add strict --require-freshness "+url+near+in, "give the key")
}
