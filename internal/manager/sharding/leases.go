package sharding

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

const (
	// replicaPrefix begins the name of every heartbeat Lease, and so of every replica.
	replicaPrefix = "klm-replica-"
	// tableLease holds the table in an annotation.
	tableLease = "klm-shards"
	// tableAnnotation holds the assignment of the buckets.
	tableAnnotation = "operator.kyma-project.io/buckets"
	// componentLabel allows users to list what the replicas share.
	componentLabel, componentValue = "app.kubernetes.io/component", "klm-shards"
)

// NameOf returns the prefix of the names of a host's replicas.
func NameOf(host string) string {
	const longest = 200
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(host))
	return replicaPrefix + strings.Trim(clean[:min(len(clean), longest)], "-")
}

// Leases is the Store in a namespace of the hub: every replica has a Lease, and so have the table and the leadership. One list reads all of
// them at one moment.
type Leases struct {
	Client client.LeaseInterface
	// LeaderLease is the name of the Lease that managers without sharding hold.
	LeaderLease string
	Timing      Timing
	Now         func() time.Time
}

// version returns a string that differs from that of an earlier object of the same name.
func version(lease *coordinationv1.Lease) string {
	return string(lease.UID) + "/" + lease.ResourceVersion
}

// Snapshot implements Store.
func (l *Leases) Snapshot(ctx context.Context) (Snapshot, error) {
	list, err := l.Client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return Snapshot{}, fmt.Errorf("list the Leases of the replicas: %w", err)
	}
	seen := Snapshot{Heartbeats: map[string]string{}}
	for i := range list.Items {
		switch lease := &list.Items[i]; {
		case strings.HasPrefix(lease.Name, replicaPrefix):
			seen.Heartbeats[lease.Name] = version(lease)
		case lease.Name == tableLease:
			table, err := assignment.Decode(lease.Annotations[tableAnnotation])
			if err != nil {
				return Snapshot{}, fmt.Errorf("read Lease %s (delete it if it cannot be repaired): %w", lease.Name, err)
			}
			seen.Table, seen.Version = table, version(lease)
		case lease.Name == l.LeaderLease:
			seen.Leader = leaderRecordOf(lease)
		}
	}
	return seen, nil
}

func leaderRecordOf(lease *coordinationv1.Lease) LeaderRecord {
	throne := LeaderRecord{Version: version(lease)}
	if lease.Spec.HolderIdentity != nil {
		throne.Holder = *lease.Spec.HolderIdentity
	}
	if lease.Spec.LeaseDurationSeconds != nil {
		throne.For = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	}
	throne.Foreign = throne.Holder != "" && !strings.HasPrefix(throne.Holder, replicaPrefix)
	return throne
}

// RenewHeartbeat implements Store.
func (l *Leases) RenewHeartbeat(ctx context.Context, name, from string) (string, error) {
	written, err := l.put(ctx, l.lease(name, name), from)
	if err != nil {
		return "", fmt.Errorf("renew the heartbeat: %w", err)
	}
	return version(written), nil
}

// DeleteHeartbeat implements Store.
func (l *Leases) DeleteHeartbeat(ctx context.Context, name, at string) error {
	uid, resourceVersion, _ := strings.Cut(at, "/")
	err := l.Client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: new(types.UID(uid)), ResourceVersion: &resourceVersion,
	}})
	return changed(err)
}

// AcquireLeadership implements Store.
func (l *Leases) AcquireLeadership(ctx context.Context, holder, from string) error {
	lease := l.lease(l.LeaderLease, holder)
	if holder == "" {
		lease.Spec.LeaseDurationSeconds = new(int32(1)) // as client-go gives a Lease back
	}
	_, err := l.put(ctx, lease, from)
	return err
}

// Write implements Store.
func (l *Leases) Write(ctx context.Context, table assignment.Assignment, from string) error {
	lease := l.lease(tableLease, "")
	lease.Spec = coordinationv1.LeaseSpec{}
	lease.Annotations = map[string]string{tableAnnotation: table.Encode()}
	_, err := l.put(ctx, lease, from)
	return err
}

func (l *Leases) lease(name, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{componentLabel: componentValue}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(math.Ceil(l.Timing.Lease.Seconds()))),
			RenewTime: new(metav1.NewMicroTime(l.Now())),
		},
	}
}

// put creates or replaces a Lease.
func (l *Leases) put(ctx context.Context, lease *coordinationv1.Lease, from string) (*coordinationv1.Lease, error) {
	if from == "" {
		written, err := l.Client.Create(ctx, lease, metav1.CreateOptions{})
		return written, changed(err)
	}
	uid, resourceVersion, _ := strings.Cut(from, "/")
	lease.UID, lease.ResourceVersion = types.UID(uid), resourceVersion
	written, err := l.Client.Update(ctx, lease, metav1.UpdateOptions{})
	return written, changed(err)
}

// changed wraps a conflict in ErrChanged.
func changed(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}
