// Filters with more values than fit on buttons: channel, version, reason, and labels of Kymas. All of them stand in the address.
import { Button, MultiSelect, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ListFilter } from 'lucide-react'
import { useId, useState } from 'react'
import { query } from '../live/http'
import { useAsked } from '../live/useAsked'
import type { ListState } from '../parts/list'
import type { Filters } from '../api'
import { fill } from '../fill'
import { messages } from '../messages'

export type Choice = 'channel' | 'version' | 'reason'
const labels: Record<Choice, string> = {
  channel: messages.common.channel,
  version: messages.common.installedVersion,
  reason: messages.common.reason,
}
const valuesOf: Record<Choice, keyof Filters> = { channel: 'channels', version: 'versions', reason: 'reasons' }

/** MoreFilters opens by itself when the address has one of them. */
export function MoreFilters({ state, choices }: { state: ListState; choices: Choice[] }) {
  const set = [...choices, 'labelSelector'].reduce((n, name) => n + state.parameters.getAll(name).length, 0)
  const [opened, { toggle }] = useDisclosure(set > 0)
  const id = useId()
  const { data } = useAsked(opened ? query('/filters') : null)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-expanded={opened}
        aria-controls={opened ? id : undefined}
        leftSection={<ListFilter size={15} aria-hidden />}
        onClick={toggle}
      >
        {messages.moreFilters.moreFilters}
        {set > 0 && ` (${set})`}
      </Button>
      {opened && (
        <div id={id} className="row filters">
          {choices.map((name) => (
            <MultiSelect
              key={name}
              label={labels[name]}
              size="xs"
              searchable
              clearable
              hidePickedOptions
              limit={100}
              w={220}
              maw="100%"
              data={optionsOf(data?.[valuesOf[name]] ?? [], state.parameters.getAll(name))}
              value={state.parameters.getAll(name)}
              onChange={(values) => state.set(name, values)}
              clearButtonProps={{ 'aria-label': fill(messages.moreFilters.clearFilter, { filter: labels[name] }) }}
            />
          ))}
          <Labels key={state.parameters.get('labelSelector') ?? ''} state={state} known={data?.labels ?? []} />
        </div>
      )}
    </>
  )
}

/** optionsOf are the values that one can choose, and those of the address, which may be gone. */
export function optionsOf(known: string[] | undefined, chosen: string[]): string[] {
  return [...new Set([...(known ?? []), ...chosen])].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** Labels is a label selector as kubectl has it. It counts when its user is done with it: half of one is an error. */
function Labels({ state, known }: { state: ListState; known: string[] }) {
  const there = state.parameters.get('labelSelector') ?? ''
  const [text, setText] = useState(there)
  const list = useId()
  const done = () => {
    if (text.trim() !== there) state.set('labelSelector', text.trim() || undefined)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        done()
      }}
    >
      <TextInput
        label={messages.moreFilters.labelsOfTheKyma}
        placeholder={messages.moreFilters.envProdRegionInEuUs}
        size="xs"
        w={260}
        maw="100%"
        maxLength={1000}
        list={list}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={done}
      />
      <datalist id={list}>
        {known.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
    </form>
  )
}
