package sbom

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

// NPMPackage is a package that the front end is built from.
type NPMPackage struct {
	Name, Version, License string
	// SHA512 is that of its archive, in hexadecimal; empty where the lock file has none.
	SHA512 string
}

// lockEntry is a package of a lock file, version 2 or 3.
type lockEntry struct {
	Version     string `json:"version"`
	License     string `json:"license"`
	Integrity   string `json:"integrity"`
	Dev         bool   `json:"dev"`
	DevOptional bool   `json:"devOptional"`
}

// folder precedes the name of a package in a lock file.
const folder = "node_modules/"

// ReadLock returns the packages of a package-lock.json that get into what is built from it: all but those for development, sorted.
func ReadLock(text []byte) ([]NPMPackage, error) {
	var lock struct {
		LockfileVersion int                  `json:"lockfileVersion"`
		Packages        map[string]lockEntry `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("read the npm lock file: %w", err)
	}
	if lock.LockfileVersion < 2 || len(lock.Packages) == 0 {
		return nil, fmt.Errorf("the npm lock file has version %d and %d packages: npm 7 or newer writes one with packages",
			lock.LockfileVersion, len(lock.Packages))
	}
	var found []NPMPackage
	for at, entry := range lock.Packages {
		i := strings.LastIndex(at, folder)
		if i < 0 || entry.Dev || entry.DevOptional {
			continue
		}
		sum, err := integrity(entry.Integrity)
		if err != nil {
			return nil, fmt.Errorf("read the npm lock file: %s: %w", at, err)
		}
		found = append(found, NPMPackage{at[i+len(folder):], entry.Version, entry.License, sum})
	}
	slices.SortFunc(found, func(a, b NPMPackage) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(found), nil
}

// integrity returns the SHA-512 of a lock file's "sha512-<base64>" in hexadecimal; other algorithms are left out.
func integrity(value string) (string, error) {
	encoded, ok := strings.CutPrefix(value, "sha512-")
	if !ok {
		return "", nil
	}
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("integrity %q: %w", value, err)
	}
	return hex.EncodeToString(sum), nil
}

func (p NPMPackage) describe() *spdx.Package {
	part := library("NPM", p.Name, p.Version, "pkg:npm/"+strings.Replace(p.Name, "@", "%40", 1)+"@"+p.Version)
	part.PackageLicenseDeclared = cmp.Or(p.License, unknown)
	if p.SHA512 != "" {
		part.PackageChecksums = []spdx.Checksum{{Algorithm: common.SHA512, Value: p.SHA512}}
	}
	return part
}
