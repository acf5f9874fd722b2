// A text that goes to the clipboard, as a command does.
import { Button } from '@mantine/core'
import { Check, Copy as CopyIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { messages } from '../messages'

export function Copy({ text, children }: { text: string; children: string }) {
  const [copied, setCopied] = useState<'yes' | 'no'>()
  useEffect(() => {
    if (copied !== 'yes') return // a command that could not be copied stays to be read
    const over = setTimeout(() => setCopied(undefined), 2000)
    return () => clearTimeout(over)
  }, [copied])
  const copy = () => {
    const clipboard = navigator.clipboard as Clipboard | undefined // pages without https have none
    if (!clipboard) return setCopied('no')
    clipboard.writeText(text).then(
      () => setCopied('yes'),
      () => setCopied('no'),
    )
  }
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        title={text}
        onClick={copy}
        leftSection={copied === 'yes' ? <Check size={14} aria-hidden /> : <CopyIcon size={14} aria-hidden />}
      >
        {children}
      </Button>
      <span role="status" className="small dim">
        {copied === 'yes' && messages.copy.copied}
        {copied === 'no' && <span className="mono">{text}</span>}
      </span>
    </>
  )
}
