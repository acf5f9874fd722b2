// The nonce of this page: the server makes a new one for every request, and only style elements that carry it count.
const found = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

/** nonce is what style elements that are made here carry. */
export function nonce(): string {
  return found
}

// Libraries that make style elements of their own look here.
declare global {
  interface Window {
    __webpack_nonce__?: string
  }
}
window.__webpack_nonce__ = found
