package getcmd

import (
	"strings"
	"testing"
)

func TestHistory_SaysWhyThereIsNone(t *testing.T) {
	config := startHub(t)
	for _, test := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"history"}, 64, "Error: name one module\nHint: kyma history beacon\n"},
		{[]string{"history", "beacon", "greeter"}, 64, "name one module"},
		{[]string{"history", "nothing"}, 4, "there is no module nothing"},
		{[]string{"history", "beacon", "--kyma", "absent"}, 4, "absent"},
		{[]string{"history", "lone"}, 0, "There is no history of module lone here."},
		{[]string{"history", "beacon", "--kyma", "here"}, 0, "There is no history of module beacon here."},
	} {
		code, out, said, _ := kyma(t, config, test.args...)
		if code != test.code || out != "" || !strings.Contains(said, test.said) {
			t.Errorf("%q: exit code %d, want %d; wrote %q, said %q", test.args, code, test.code, out, said)
		}
	}
}
