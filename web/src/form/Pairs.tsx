// A map of words in a form: pairs of a name and a value.
import { Fieldset, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Json } from '../api'
import { Add, Remove } from './buttons'
import { another, fits, objectOf, repeated, rowsOf, type Row } from './rows'
import { text, type Field } from './schema'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  field: Field
  value: Json | undefined
  set(to: Json | undefined): void
  disabled?: boolean
}

export function Pairs({ field, value, set, disabled }: Props) {
  const [rows, setRows] = useState(() => rowsOf(value))
  if (!fits(rows, value)) setRows(rowsOf(value)) // it was changed from elsewhere
  const write = (next: Row[]) => {
    setRows(next)
    set(next.length > 0 ? objectOf(next) : undefined)
  }
  const change = (id: number, over: Partial<Row>) => write(rows.map((row) => (row.id === id ? { ...row, ...over } : row)))
  return (
    <Fieldset legend={field.label}>
      {field.help && <p className="dim small">{field.help}</p>}
      <div className="stack tight">
        {rows.map((row, i) => (
          <div key={row.id} className="row">
            <TextInput
              aria-label={fill(messages.pairs.nameOf, { number: i + 1, label: field.label })}
              value={row.name}
              disabled={disabled}
              error={repeated(rows, row) && messages.pairs.nameAlreadyThere}
              onChange={(event) => change(row.id, { name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={fill(messages.pairs.valueOf, { name: row.name || messages.common.it })}
              value={text(row.value)}
              disabled={disabled}
              onChange={(event) => change(row.id, { value: event.currentTarget.value })}
            />
            <Remove
              label={fill(messages.pairs.removeName, { name: row.name })}
              disabled={disabled}
              onClick={() => write(rows.filter((one) => one.id !== row.id))}
            />
          </div>
        ))}
        <Add disabled={disabled || rows.some((row) => row.name === '')} onClick={() => write(another(rows))} />
      </div>
    </Fieldset>
  )
}
