package descriptor

import "testing"

func TestIsAddress(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"a host":                          {"registry.example.com", true},
		"a host of one letter":            {"r", true},
		"a host with a port":              {"localhost:5000", true},
		"with TLS, which it says":         {"https://registry.example.com", true},
		"without TLS":                     {"http://127.0.0.1:5000", true},
		"nothing":                         {"", false},
		"a scheme alone":                  {"https://", false},
		"the scheme of references":        {"oci://registry.example.com", false},
		"a scheme in capitals":            {"HTTP://registry.example.com", false},
		"a path":                          {"registry.example.com/modules", false},
		"a slash at the end":              {"https://registry.example.com/", false},
		"a login":                         {"user:secret@registry.example.com", false},
		"a host that ends in a dot":       {"registry.example.com.", false},
		"a host that begins with a minus": {"-registry", false},
		"a port without digits":           {"registry:", false},
		"a second line":                   {"registry\n- op: add", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsAddress(tc.text); got != tc.want {
				t.Errorf("IsAddress(%q) = %t", tc.text, got)
			}
		})
	}
}
