import { Button, Group, Modal, Radio, Stack, Textarea } from '@mantine/core'
import { type ReactElement, type ReactNode, useState } from 'react'
import { RESOLVE_REASONS, type Resolution } from './words.ts'

interface Props {
  title: string
  /** What is resolved, for example the number of incidents of a storm. */
  about?: ReactNode
  isBusy: boolean
  /** An error, shown above the buttons. */
  problem?: ReactNode
  /** A lost race. It has its own buttons, so it replaces the form until the person decides. */
  race: ReactElement | null
  first?: Resolution['reason']
  onClose: () => void
  onResolve: (resolution: Resolution) => void
}

/** Asks for the reason and a note before incidents are resolved. */
export function ResolveDialog({ title, race, onClose, ...form }: Props) {
  return (
    <Modal opened onClose={onClose} title={title} size="md">
      {race === null ? (
        <ResolveForm {...form} onClose={onClose} />
      ) : (
        <div ref={focus} tabIndex={-1}>
          {race}
          {form.problem}
        </div>
      )}
    </Modal>
  )
}

/** The button that had the focus is gone with the form. */
function focus(element: HTMLElement | null): void {
  element?.focus()
}

type FormProps = Omit<Props, 'title' | 'race'>

function ResolveForm({ about, isBusy, problem, first, onClose, onResolve }: FormProps) {
  const [reason, setReason] = useState<Resolution['reason'] | undefined>(first)
  const [note, setNote] = useState('')
  const needsNote = reason === 'other' && note.trim() === ''
  const resolve = () => {
    if (reason === undefined || needsNote) return
    onResolve({
      reason,
      ...(note.trim() === '' ? {} : { note: note.trim() }),
    })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        resolve()
      }}
    >
      <Stack gap="md">
        {about}
        <Radio.Group
          label="Reason"
          value={reason ?? ''}
          onChange={value => setReason(value as Resolution['reason'])}
          required
        >
          <Stack gap="sm" mt="xs">
            {RESOLVE_REASONS.map(({ value, label, about }) => (
              <Radio
                key={value}
                value={value}
                label={label}
                description={about}
                data-autofocus={value === first || undefined}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Textarea
          label="Note"
          description="Shown in the timeline and in the message that reports the end."
          value={note}
          maxLength={1_000}
          required={reason === 'other'}
          onChange={event => setNote(event.currentTarget.value)}
        />
        {problem}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={reason === undefined || needsNote}>
            Resolve
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
