// What narrows a list without a control of its own, since a link led there: each is told, and can be taken away.
import { Button } from '@mantine/core'
import type { ListState } from '../parts/list'
import { fill } from '../fill'
import { messages } from '../messages'

/** told says what a filter of an address means. */
export function told(name: string, value: string): string {
  switch (name) {
    case 'module':
      return fill(messages.narrowed.moduleValue, { value })
    case 'kyma':
      return fill(messages.narrowed.kymaValue, { value })
    case 'namespace':
      return fill(messages.narrowed.namespaceValue, { value })
    case 'version':
      return value === 'none' ? messages.narrowed.notInstalledYet : fill(messages.narrowed.versionValue, { value })
    case 'notVersion':
      return value === 'none' ? messages.common.installed : fill(messages.narrowed.notVersion, { value })
    case 'cause':
      return messages.narrowed.oneCauseOfTheFleet
  }
  return `${name}: ${value}`
}

export function Narrowed({ state, names }: { state: ListState; names: readonly string[] }) {
  const all = names.flatMap((name) => state.parameters.getAll(name).map((value) => ({ name, value })))
  if (all.length === 0) return null
  return (
    <div className="row" role="group" aria-label={messages.narrowed.onlyThese}>
      <span className="dim small">{messages.narrowed.only}</span>
      {all.map(({ name, value }) => (
        <Button key={name + value} size="compact-sm" variant="light" onClick={() => state.toggle(name, value)}>
          {told(name, value)}
          <span aria-hidden="true">&nbsp;✕</span>
          <span className="hidden-text"> {messages.narrowed.removeThisFilter}</span>
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={state.clear}>
        {messages.common.showAll}
      </Button>
    </div>
  )
}
