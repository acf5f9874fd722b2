package soak

import (
	"math"
	"testing"
	"time"
)

func TestSlopeIsThatOfTheSecondHalf(t *testing.T) {
	var samples []Sample
	for i := range 100 {
		bytes := int64(1 << 20 * i) // it fills up
		if i >= 50 {
			bytes = int64(100<<20 + 1000*(i-50)) // 1,000 bytes a minute
		}
		samples = append(samples, Sample{At: time.Duration(i) * time.Minute, Bytes: bytes})
	}
	if slope := Slope(samples); math.Abs(slope-60_000) > 1 {
		t.Errorf("%f bytes an hour, want 60000", slope)
	}
	if slope := Slope(nil); slope != 0 {
		t.Errorf("%f bytes an hour of nothing", slope)
	}
}
