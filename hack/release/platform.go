package main

import (
	"fmt"
	"strings"
)

// platform is what a program is built for.
type platform struct{ os, arch string }

// String returns the platform as os/arch.
func (p platform) String() string { return p.os + "/" + p.arch }

// file returns the name of a program's file.
func (p platform) file(program string) string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

// parsePlatforms reads a list such as linux/amd64,windows/arm64.
func parsePlatforms(list string) ([]platform, error) {
	var found []platform
	seen := map[platform]bool{}
	linux := false
	for name := range strings.SplitSeq(list, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(name), "/")
		p := platform{system, arch}
		switch {
		case !ok || system == "" || arch == "":
			return nil, fmt.Errorf("platform %q: write os/arch, such as linux/amd64, with commas between several", name)
		case seen[p]:
			return nil, fmt.Errorf("platform %s is named twice", p)
		}
		seen[p], linux = true, linux || system == "linux"
		found = append(found, p)
	}
	if !linux {
		return nil, fmt.Errorf("platforms %q: images need linux among them", list)
	}
	return found, nil
}
