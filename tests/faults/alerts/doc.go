// Package alerts tests the alerts of config/components/monitoring with what a real manager published while something was broken.
//
// For each fault of the matrix there is a recording in testdata: the series that the rules use, scraped from a manager under that fault and
// after it (`make record-alerts` makes them). Promtool, Prometheus' own program, evaluates the rules over a recording: before the fault no
// alert may ring, within two minutes the expected one has to, and five minutes after the fault none may ring any more.
//
// The package imitates no metric and no rule: what was not recorded is not tested, and a fault without a recording is named.
package alerts
