// What the tests' browser lacks.
import { cleanup, configure } from '@testing-library/react'
import { afterEach, vi } from 'vitest'

configure({ asyncUtilTimeout: 8000 }) // pages are loaded when they are gone to, on machines that do other things as well

afterEach(() => {
  cleanup()
  window.sessionStorage.clear()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const query = (media: string) => ({
  matches: false,
  media,
  onchange: null,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  addListener: () => undefined,
  removeListener: () => undefined,
  dispatchEvent: () => false,
})
Object.defineProperty(window, 'matchMedia', { writable: true, value: query })
window.scrollTo = () => undefined
Object.defineProperty(document, 'fonts', { value: new EventTarget() })
globalThis.ResizeObserver ??= class {
  observe() {
    /* nothing has a size */
  }
  unobserve() {
    /* */
  }
  disconnect() {
    /* */
  }
}
