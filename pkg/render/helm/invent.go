package helm

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"math/rand/v2"
	"reflect"
	"strings"
)

// stream gives bytes that look random and follow from a text alone.
type stream struct{ source *rand.ChaCha8 }

func streamOf(text string) stream { return stream{rand.NewChaCha8(sha256.Sum256([]byte(text)))} }

func (s stream) bytes(count int) []byte {
	made := make([]byte, max(count, 0))
	_, _ = s.source.Read(made) // which never fails
	return made
}

// text returns as many characters of an alphabet.
func (s stream) text(alphabet string, count int) string {
	made := s.bytes(count)
	for i := range made {
		made[i] = alphabet[int(made[i])%len(alphabet)]
	}
	return string(made)
}

func (s stream) base64(count int) string { return base64.StdEncoding.EncodeToString(s.bytes(count)) }

func (s stream) pem(kind string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: s.bytes(48)}))
}

func (s stream) bcrypt() string { return "$2a$10$" + s.text("./"+letters+digits, 53) }

// invent returns a result that has the shape of a generator's and follows from the call alone: callers that only look at a chart see the
// same wherever they look, and of two versions only what differs. It is no secret, and certifies nothing.
func invent(name string, args []reflect.Value, call string, kind reflect.Type) reflect.Value {
	result, from := reflect.New(kind).Elem(), streamOf(call)
	switch kind.Kind() {
	case reflect.Int:
		first, last := args[0].Int(), args[1].Int()
		result.SetInt(first + int64(from.source.Uint64()%uint64(max(last-first, 1))))
	case reflect.Struct:
		result.FieldByName("Cert").SetString(from.pem("CERTIFICATE"))
		result.FieldByName("Key").SetString(from.pem("PRIVATE KEY"))
	default:
		result.SetString(inventText(name, args, from))
	}
	return result
}

func inventText(name string, args []reflect.Value, from stream) string {
	switch name {
	case "randAlphaNum":
		return from.text(letters+digits, int(args[0].Int()))
	case "randAlpha":
		return from.text(letters, int(args[0].Int()))
	case "randNumeric":
		return from.text(digits, int(args[0].Int()))
	case "randAscii":
		return from.text(printable(), int(args[0].Int()))
	case "randBytes":
		return from.base64(int(args[0].Int()))
	case "shuffle":
		return args[0].String()
	case "uuidv4":
		b := from.bytes(16)
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		text := hex.EncodeToString(b)
		return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	case "bcrypt":
		return from.bcrypt()
	case "htpasswd":
		return args[0].String() + ":" + from.bcrypt()
	case "encryptAES":
		return from.base64(encryptedLength(args[1].String()))
	default:
		return from.pem("PRIVATE KEY")
	}
}
