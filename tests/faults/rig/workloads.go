package rig

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NoNode is a label of no node: a Deployment whose pods must have a node with it never becomes available.
const NoNode = "testkit.kyma-project.io/no-node"

// startWorkloads marks every Deployment as available as soon as it is written, but for those that wait for NoNode.
func startWorkloads(cluster client.WithWatch) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			followDeployments(ctx, cluster)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() error {
		cancel()
		<-done
		return nil
	}
}

// followDeployments ends with its stream; the next one begins with what exists.
func followDeployments(ctx context.Context, cluster client.WithWatch) {
	stream, err := cluster.Watch(ctx, &appsv1.DeploymentList{})
	if err != nil {
		return
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		deployment, ok := event.Object.(*appsv1.Deployment)
		if ok && deployment.Status.ObservedGeneration != deployment.Generation && deployment.Spec.Template.Spec.NodeSelector[NoNode] == "" {
			// A Deployment that changed meanwhile comes again.
			_ = cluster.Status().Update(ctx, available(deployment))
		}
	}
}

func available(deployment *appsv1.Deployment) *appsv1.Deployment {
	replicas := int32(1)
	if deployment.Spec.Replicas != nil {
		replicas = *deployment.Spec.Replicas
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		Conditions: []appsv1.DeploymentCondition{
			condition(appsv1.DeploymentAvailable, "MinimumReplicasAvailable"), condition(appsv1.DeploymentProgressing, "NewReplicaSetAvailable"),
		},
	}
	return deployment
}

func condition(kind appsv1.DeploymentConditionType, reason string) appsv1.DeploymentCondition {
	now := metav1.Now()
	return appsv1.DeploymentCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: now, LastUpdateTime: now,
	}
}
