package helm

import (
	"encoding/base64"
	"encoding/pem"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	// aesBlock are the bytes of a block, and of what comes before the first.
	aesBlock = 16
)

var (
	bcryptHash   = regexp.MustCompile(`^\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}$`)
	uuidVersion4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	// keys are the types of private keys in PEM.
	keys = []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"}
)

// shapes are of the generators: whether a result is one that the function gives for the arguments. Errors that some of them give as a text
// are none. What is random in a result is not judged, but everything else: a result that has the shape does not leave its place in a YAML
// document.
var shapes = map[string]func(args []reflect.Value, result reflect.Value) bool{
	"randAlphaNum": madeOf(letters + digits), "randAlpha": madeOf(letters), "randNumeric": madeOf(digits),
	"randAscii": madeOf(printable()),
	"randBytes": func(args []reflect.Value, result reflect.Value) bool {
		return encodedLength(result.String()) == int(args[0].Int())
	},
	"randInt": func(args []reflect.Value, result reflect.Value) bool {
		return result.Int() >= args[0].Int() && result.Int() < args[1].Int()
	},
	"shuffle": func(args []reflect.Value, result reflect.Value) bool {
		return slices.Equal(sortedRunes(args[0].String()), sortedRunes(result.String()))
	},
	"uuidv4": matching(uuidVersion4),
	"bcrypt": matching(bcryptHash),
	"htpasswd": func(args []reflect.Value, result reflect.Value) bool {
		hash, found := strings.CutPrefix(result.String(), args[0].String()+":")
		return found && bcryptHash.MatchString(hash)
	},
	"encryptAES": func(args []reflect.Value, result reflect.Value) bool {
		plain := args[1].String()
		return plain != "" && encodedLength(result.String()) == encryptedLength(plain)
	},
	"genPrivateKey": func(_ []reflect.Value, result reflect.Value) bool { return isPEM(result.String(), keys...) },
	"genCA":         isCertificate, "genCAWithKey": isCertificate,
	"genSelfSignedCert": isCertificate, "genSelfSignedCertWithKey": isCertificate,
	"genSignedCert": isCertificate, "genSignedCertWithKey": isCertificate,
}

func matching(pattern *regexp.Regexp) func([]reflect.Value, reflect.Value) bool {
	return func(_ []reflect.Value, result reflect.Value) bool { return pattern.MatchString(result.String()) }
}

// madeOf is the shape of as many characters as the first argument says.
func madeOf(alphabet string) func([]reflect.Value, reflect.Value) bool {
	return func(args []reflect.Value, result reflect.Value) bool {
		text := result.String()
		return int64(len(text)) == max(args[0].Int(), 0) && strings.Trim(text, alphabet) == ""
	}
}

func printable() string {
	var all strings.Builder
	for char := ' '; char <= '~'; char++ {
		all.WriteRune(char)
	}
	return all.String()
}

// encodedLength returns how many bytes a text in base64 stands for; -1 where it is not written as an encoder does.
func encodedLength(text string) int {
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(decoded) != text {
		return -1
	}
	return len(decoded)
}

// encryptedLength returns how many bytes encryptAES makes of a text, which it fills up to whole blocks.
func encryptedLength(plain string) int { return aesBlock + (len(plain)/aesBlock+1)*aesBlock }

func sortedRunes(text string) []rune {
	runes := []rune(text)
	slices.Sort(runes)
	return runes
}

// isPEM reports whether a text is one block of one of the types, as an encoder writes it.
func isPEM(text string, types ...string) bool {
	block, _ := pem.Decode([]byte(text))
	return block != nil && slices.Contains(types, block.Type) && len(block.Headers) == 0 && string(pem.EncodeToMemory(block)) == text
}

// isCertificate judges what the generators of certificates give: a structure of the certificate and its key.
func isCertificate(_ []reflect.Value, result reflect.Value) bool {
	return isPEM(result.FieldByName("Cert").String(), "CERTIFICATE") && isPEM(result.FieldByName("Key").String(), keys...)
}
