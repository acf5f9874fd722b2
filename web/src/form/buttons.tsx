// The two buttons that make lists of a form longer and shorter.
import { Button } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { messages } from '../messages'

export function Add({ onClick, disabled }: { onClick: () => void; disabled?: boolean }) {
  return (
    <div>
      <Button size="compact-sm" variant="light" leftSection={<Plus size={14} aria-hidden />} disabled={disabled} onClick={onClick}>
        {messages.buttons.addOne}
      </Button>
    </div>
  )
}

export function Remove({ label, onClick, disabled }: { label: string; onClick: () => void; disabled?: boolean }) {
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      color="gray"
      disabled={disabled}
      onClick={onClick}
      leftSection={<Trash2 size={14} aria-hidden />}
    >
      {label}
    </Button>
  )
}
