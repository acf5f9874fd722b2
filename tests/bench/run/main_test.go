package main

import (
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		args          []string
		command, fail string
	}{
		"nothing means everything": {args: nil, command: "make bench"},
		"what make has a variable for is told so": {
			args: []string{"-bench=B2,B3", "-k=100,1000", "-idle=30m"}, command: "make bench BENCH=B2,B3 IDLE=30m0s K=100,1000",
		},
		"the rest is told as flags": {
			args: []string{"-processors=1", "-flag=--log-level=2"}, command: "make bench BENCHARGS='-flag=--log-level=2 -processors=1'",
		},
		"what is repeated is told as often": {
			args:    []string{"-k=10000", "-env=GOMEMLIMIT=2500MiB", "-env=GOGC=40"},
			command: "make bench K=10000 BENCHARGS='-env=GOMEMLIMIT=2500MiB -env=GOGC=40'",
		},
		"where results go is no one's business": {args: []string{"-results=x", "-publish"}, command: "make bench"},
		"a short run has a name":                {args: []string{"-smoke"}, command: "make bench-smoke"},
		"no fleet of nothing":                   {args: []string{"-k=0"}, fail: "above zero"},
		"no stray words":                        {args: []string{"B2"}, fail: "unexpected argument"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(test.args, io.Discard)
			switch {
			case test.fail != "" && (err == nil || !strings.Contains(err.Error(), test.fail)):
				t.Errorf("error %v, want one that says %q", err, test.fail)
			case test.fail == "" && err != nil:
				t.Error(err)
			case test.fail == "" && o.settings.Command != test.command:
				t.Errorf("command %q, want %q", o.settings.Command, test.command)
			}
		})
	}
}

func TestUnknownWorkloadIsRefused(t *testing.T) {
	err := run(t.Context(), []string{"-bench=B2,B99"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"B99"`) {
		t.Errorf("error %v, want one that names B99", err)
	}
}
