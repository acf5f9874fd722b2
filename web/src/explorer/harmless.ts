// Text of a cluster that must not play tricks: characters that reorder or hide text, and control characters, are shown as their code.

const tricks = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** harmless shows a text as it is, but for what would change how the rest is shown. Lines and tabs stay. */
export function harmless(text: string): string {
  return text.replace(tricks, (one) => `<U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`)
}
