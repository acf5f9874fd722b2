// Where a kubeconfig is pasted or uploaded. It is kept in this page until it is sent, and never shown again afterwards.
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { mostKubeconfig } from './form'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  value: string
  set(text: string): void
  help?: string
}

export function Kubeconfig({ value, set, help }: Props) {
  const [problem, setProblem] = useState('')
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > mostKubeconfig) return setProblem(fill(messages.kubeconfig.tooLargeKubeconfig, { name: file.name }))
    setProblem('')
    set(await file.text())
  }
  return (
    <div className="stack tight">
      <Textarea
        label={messages.kubeconfig.kubeconfig}
        description={help}
        className="mono"
        value={value}
        rows={6}
        autoComplete="off"
        spellCheck={false}
        error={problem}
        onChange={(event) => set(event.currentTarget.value)}
      />
      <label className="dim small">
        {messages.kubeconfig.orAFile}{' '}
        <input
          type="file"
          aria-label={messages.kubeconfig.uploadAKubeconfig}
          onChange={(event) => void read(event.currentTarget.files?.[0])}
        />
      </label>
      <p className="dim small flat">{messages.kubeconfig.tokensCertificatesMustStandLifecycle}</p>
    </div>
  )
}
