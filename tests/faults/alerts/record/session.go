package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/alerts"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// session records on one rig.
type session struct {
	options *options
	rules   *alerts.Rules
	rig     *rig.Rig
}

func newSession(rules *alerts.Rules, o *options) *session { return &session{options: o, rules: rules} }

// work records until nothing is left to do. What cannot be recorded is told at the end.
func (s *session) work(ctx context.Context, queue <-chan alerts.Expectation) (err error) {
	dir, err := os.MkdirTemp("", "record-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s.rig, err = rig.Start(ctx, rig.Options{Dir: dir, Program: s.options.program, Metrics: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.rig.Stop()) }()
	for expected := range queue {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if failed := s.one(ctx, expected); failed != nil {
			fmt.Fprintf(s.options.out, "FAILED %s: %v\n", expected.Fault, failed)
			err = errors.Join(err, fmt.Errorf("%s: %w", expected.Fault, failed))
		}
	}
	return err
}

// one records one fault, writes the recording, and replays it.
func (s *session) one(ctx context.Context, expected alerts.Expectation) error {
	began := time.Now()
	s.rig.ClearFaults()
	if !s.rig.Manager.Running() {
		if err := s.rig.Manager.Start(); err != nil {
			return err
		}
	}
	recording := &alerts.Recording{
		Fault: expected.Fault, Form: expected.Form, Operation: expected.Operation,
		At: began.UTC().Format(time.DateOnly), Manager: commit(ctx),
	}
	record := s.fault
	if expected.Fault == alerts.Clean {
		record = s.clean
	}
	if err := record(ctx, expected, recording); err != nil {
		return err
	}
	if err := recording.Write(s.options.dir); err != nil {
		return err
	}
	verdict := "recorded"
	if s.options.promtool != "" {
		promtool := &alerts.Promtool{Program: s.options.promtool, Rules: s.rules}
		if err := promtool.Replay(ctx, s.rig.Dir, recording, expected); err != nil {
			return err
		}
		verdict = "recorded, and rings as expected"
	}
	fmt.Fprintf(s.options.out, "ok     %s: %s (%s)\n", expected.Fault, verdict, time.Since(began).Round(time.Second))
	return nil
}

// scrape begins to take samples of the managers; stop ends it, and may be called again.
func (s *session) scrape(ctx context.Context) (scraper *alerts.Scraper, stop func()) {
	scraper = alerts.NewScraper(s.rules.Keeps(), s.targets)
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { scraper.Run(ctx) })
	return scraper, func() {
		cancel()
		group.Wait()
	}
}

// targets are the managers that run. While none does, one is missing: a container that is about to be started again.
func (s *session) targets() []string {
	var running []string
	for _, manager := range s.rig.Managers() {
		if manager.Running() {
			running = append(running, manager.Metrics)
		}
	}
	if len(running) == 0 {
		running = append(running, "")
	}
	return running
}

// commit returns the commit of this checkout.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
