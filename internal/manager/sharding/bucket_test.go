package sharding

import (
	"fmt"
	"hash/fnv"
	"testing"
)

func TestBucket_IsFNV1a(t *testing.T) {
	for _, name := range []string{"", "a", "kyma-sample", "default-id", "ü"} {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte("kcp-system/" + name))
		if want, got := int(hash.Sum32()%Buckets), Bucket("kcp-system", name); got != want {
			t.Errorf("Bucket(kcp-system, %q) = %d, the standard library says %d", name, got, want)
		}
	}
}

func TestBucket_NeverChanges(t *testing.T) {
	// Written down once: a change here would move every Kyma to another replica at the next upgrade.
	for name, want := range map[string]int{"kyma-sample": 25, "default-id": 47, "a": 53} {
		if got := Bucket("kcp-system", name); got != want {
			t.Errorf("Bucket(kcp-system, %q) = %d, want %d as ever", name, got, want)
		}
	}
}

func TestBucket_SeparatesNamespaceFromName(t *testing.T) {
	if Bucket("ab", "c") == Bucket("a", "bc") && Bucket("x-y", "z") == Bucket("x", "y-z") {
		t.Error("the border between namespace and name makes no difference")
	}
}

func TestBucket_FillsBucketsEvenly(t *testing.T) {
	const kymas = 5000
	var filled [Buckets]int
	for i := range kymas {
		filled[Bucket("kcp-system", fmt.Sprintf("kyma-%05d", i))]++
	}
	for bucket, n := range filled {
		if n < kymas/Buckets/2 || n > kymas/Buckets*2 {
			t.Errorf("bucket %d has %d of %d Kymas: not within half and twice the mean of %d", bucket, n, kymas, kymas/Buckets)
		}
	}
}

func TestAll_OwnsEveryBucketAndNoOther(t *testing.T) {
	var owner Owner = All{}
	for bucket := range Buckets {
		if !owner.Mine(bucket) {
			t.Errorf("bucket %d is no one's", bucket)
		}
	}
	if owner.Mine(-1) || owner.Mine(Buckets) {
		t.Error("a bucket that does not exist is owned")
	}
}

func TestBucket_AllocatesNothing(t *testing.T) {
	sum := 0
	if n := testing.AllocsPerRun(100, func() { sum += Bucket("kcp-system", "kyma-sample") }); n != 0 {
		t.Errorf("Bucket allocates %v times", n)
	}
}
