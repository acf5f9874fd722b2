package descriptor

import "regexp"

var address = regexp.MustCompile(`^(https?://)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)

// IsAddress reports whether a text is the address of a registry, as flags and options name it: host[:port], with http:// in front where it
// speaks no TLS. The https:// in front of the others may be left out. With a path or a login it is none.
func IsAddress(text string) bool { return address.MatchString(text) }
