package wire

// tooLarge is the error of an answer that is larger than what is read.
type tooLarge struct{}

// Error implements error.
func (tooLarge) Error() string { return "the API server's answer is larger than what is read" }

// TooLarge tells those who cannot name this type that less would be read.
func (tooLarge) TooLarge() bool { return true }

// ErrTooLarge is returned for a response above its limit.
var ErrTooLarge error = tooLarge{}
