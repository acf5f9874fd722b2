package workload

import "github.com/kyma-project/lifecycle-manager/tests/bench/report"

// Sizes of a fleet from which other bounds hold.
const (
	largeFleet = 5_000
	giantFleet = 10_000
)

// processorBound is for the manager's processor time of an object, in milliseconds.
func processorBound(kymas int) report.Bound {
	if kymas < largeFleet {
		return report.AtMost(0.5)
	}
	return report.AtMost(1)
}

// peakBound is for the manager's memory while a fleet comes in, in MiB.
func peakBound(kymas int) report.Bound {
	if kymas < giantFleet {
		return report.Bound{}
	}
	return report.AtMost(2.5 * 1024)
}

// restBound is for the manager's memory at rest, in MiB.
func restBound(kymas int) report.Bound {
	if kymas < largeFleet {
		return report.Bound{}
	}
	return report.AtMost(2 * 1024)
}

// restartBound is for the seconds until a manager that was killed serves a change.
func restartBound(kymas int) report.Bound {
	if kymas < giantFleet {
		return report.AtMost(30)
	}
	return report.AtMost(40)
}

// landingBound is for the milliseconds until a change by another user lands while all modules change their version.
func (b *Bench) landingBound() report.Bound {
	if b.tier == "" {
		return report.AtMost(2000)
	}
	return report.AtMost(1000) // real API servers
}
