// What narrows a list without a control of its own, since a link led there: each is told, and can be taken away.
import { Button } from '@mantine/core'
import type { ListState } from '../parts/list'

/** told says what a filter of an address means. */
export function told(name: string, value: string): string {
  switch (name) {
    case 'module':
      return `Module ${value}`
    case 'kyma':
      return `Kyma ${value}`
    case 'namespace':
      return `Namespace ${value}`
    case 'version':
      return value === 'none' ? 'Not installed yet' : `Version ${value}`
    case 'notVersion':
      return value === 'none' ? 'Installed' : `Not version ${value}`
    case 'cause':
      return 'One cause of the fleet'
  }
  return `${name}: ${value}`
}

export function Narrowed({ state, names }: { state: ListState; names: readonly string[] }) {
  const all = names.flatMap((name) => state.parameters.getAll(name).map((value) => ({ name, value })))
  if (all.length === 0) return null
  return (
    <div className="row" role="group" aria-label="Only these">
      <span className="dim small">Only</span>
      {all.map(({ name, value }) => (
        <Button key={name + value} size="compact-sm" variant="light" onClick={() => state.toggle(name, value)}>
          {told(name, value)}
          <span aria-hidden="true">&nbsp;✕</span>
          <span className="hidden-text"> (remove this filter)</span>
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={state.clear}>
        Show all
      </Button>
    </div>
  )
}
