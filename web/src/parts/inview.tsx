// What opens on a page on request: it comes into view and has the focus; Escape closes it, and the focus goes back.
import { useEffect, useRef, type ReactNode } from 'react'

export function InView({ label, close, children }: { label: string; close?: () => void; children: ReactNode }) {
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    box.current?.focus() // which scrolls there as well
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  useEffect(() => {
    if (!close) return
    const pressed = (event: KeyboardEvent) => {
      const editor = event.target instanceof Element && event.target.closest('.cm-editor') // there, Escape and Tab lead out
      if (event.key === 'Escape' && !event.defaultPrevented && !editor) close()
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [close])
  return (
    <section ref={box} tabIndex={-1} aria-label={label} className="stack">
      {children}
    </section>
  )
}
