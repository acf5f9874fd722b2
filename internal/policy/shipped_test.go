package policy

import (
	"os"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

func TestShipped_TheFilesThatAreShippedAreAccepted(t *testing.T) {
	for component, accepts := range map[string]func(map[string]string) error{
		"maintenance-windows": func(data map[string]string) error {
			_, err := parseWindows([]byte(data["policy.json"]), 20*time.Minute)
			return err
		},
		"approvals": func(data map[string]string) error {
			return CheckApprovals([]byte(data["approvals.yaml"]))
		},
		"signatures": func(data map[string]string) error {
			_, err := parseSignatures([]byte(data["signatures.yaml"]), os.ReadFile)
			return err
		},
	} {
		t.Run(component, func(t *testing.T) {
			raw, err := os.ReadFile("../../config/components/" + component + "/policy.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var shipped struct {
				Data map[string]string `json:"data"`
			}
			if err := yaml.Unmarshal(raw, &shipped); err != nil {
				t.Fatal(err)
			}
			if err := accepts(shipped.Data); err != nil {
				t.Error(err)
			}
		})
	}
}
