// Where a kubeconfig is pasted or uploaded. It is kept in this page until it is sent, and never shown again afterwards.
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { mostKubeconfig } from './form'

interface Props {
  value: string
  set(text: string): void
  help?: string
}

export function Kubeconfig({ value, set, help }: Props) {
  const [problem, setProblem] = useState('')
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > mostKubeconfig) return setProblem(`${file.name} is too large to be a kubeconfig.`)
    setProblem('')
    set(await file.text())
  }
  return (
    <div className="stack tight">
      <Textarea
        label="Kubeconfig"
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
        or a file:{' '}
        <input type="file" aria-label="Upload a kubeconfig" onChange={(event) => void read(event.currentTarget.files?.[0])} />
      </label>
      <p className="dim small flat">
        Tokens and certificates must stand in it: the lifecycle manager reads no files, runs no programs and uses no proxy of it. It is
        stored in the access Secret of the Kyma alone, and is not shown again.
      </p>
    </div>
  )
}
