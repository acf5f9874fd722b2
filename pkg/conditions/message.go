package conditions

import (
	"strings"
	"unicode/utf8"
)

// MessageLimit is how many characters of a message are kept. The API allows 32,768, but a message is for users, and it is repeated in every
// status that summarises others.
const MessageLimit = 1024

// NoteLimit is how many bytes the API server accepts in the note of an Event. It always refuses a longer one.
const NoteLimit = 1024

const ellipsis = "…"

// Cut shortens a message to MessageLimit characters, at a word boundary where there is one. Invalid UTF-8 (an error may repeat the bytes of
// a foreign server) is replaced as JSON would replace it, so that the message is the same when it is read back.
func Cut(message string) string {
	message = strings.ToValidUTF8(message, string(utf8.RuneError))
	if len(message) <= MessageLimit {
		return message // at least one byte per character
	}
	room := MessageLimit - utf8.RuneCountInString(ellipsis)
	count, end := 0, 0 // where to cut if the message is too long
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
	// The cut is inside a word: go back to the end of the last word, but by no more than half of the text.
	if space := strings.LastIndexAny(kept, " \t\n"); space > len(kept)/2 && !strings.HasPrefix(message[end:], " ") {
		kept = kept[:space]
	}
	return strings.TrimRight(kept, " \t\n,;:") + ellipsis
}

// Note shortens a text to the limit of an Event.
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
