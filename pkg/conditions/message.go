package conditions

import (
	"strings"
	"unicode/utf8"
)

// MessageLimit is how many characters of a message are kept. The API allows 32,768, but a message is for users, and it is repeated
// in every status that sums up others.
const MessageLimit = 1024

// NoteLimit is how many bytes the API server accepts in the note of an Event. It refuses a longer one for good.
const NoteLimit = 1024

const ellipsis = "…"

// Cut shortens a message to MessageLimit characters, at a word where there is one. What is no UTF-8 (an error may repeat the bytes of
// a foreign server) is replaced as JSON would do it, so that the message is the same after it was read back.
func Cut(message string) string {
	message = strings.ToValidUTF8(message, string(utf8.RuneError))
	if len(message) <= MessageLimit {
		return message // at least one byte a character
	}
	room := MessageLimit - utf8.RuneCountInString(ellipsis)
	count, end := 0, 0 // end of what fits when it must be cut
	for at := range message {
		if count == room {
			end = at
		}
		count++
	}
	if count <= MessageLimit {
		return message
	}
	kept := message[:end]
	// A character that is no space follows the cut: go back to the last word, but not further than half of the text.
	if space := strings.LastIndexAny(kept, " \t\n"); space > len(kept)/2 && !strings.HasPrefix(message[end:], " ") {
		kept = kept[:space]
	}
	return strings.TrimRight(kept, " \t\n,;:") + ellipsis
}

// Note shortens a text to what an Event takes.
func Note(text string) string {
	text = Cut(text)
	if len(text) <= NoteLimit {
		return text
	}
	end := NoteLimit - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
