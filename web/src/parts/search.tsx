// A search field that stands alone, outside of a list's address.
import { CloseButton, TextInput } from '@mantine/core'
import { Search as SearchIcon } from 'lucide-react'
import { messages } from '../messages'

/** TextSearch is the field that / goes to, on pages that keep the word to themselves. */
export function TextSearch({ label, value, change }: { label: string; value: string; change(text: string): void }) {
  return (
    <TextInput
      type="search"
      data-search
      aria-label={label}
      placeholder={label}
      value={value}
      maw={420}
      maxLength={200}
      leftSection={<SearchIcon size={16} aria-hidden />}
      onChange={(event) => change(event.currentTarget.value)}
      rightSection={value && <CloseButton size="sm" aria-label={messages.common.clearTheSearch} onClick={() => change('')} />}
    />
  )
}
