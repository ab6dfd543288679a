import { Radio, Stack, Textarea } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useState } from 'react'
import { RESOLVE_REASONS, type Resolution } from './words.ts'

/** The reason and the note of a resolution. `resolution` is undefined until both are enough. */
export function useResolution(first?: Resolution['reason']) {
  const [reason, setReason] = useState(first)
  const [note, setNote] = useInputState('')
  const text = note.trim()
  const resolution: Resolution | undefined =
    reason === undefined || (reason === 'other' && text === '')
      ? undefined
      : { reason, ...(text === '' ? {} : { note: text }) }
  return { first, reason, setReason, note, setNote, resolution }
}

/** @param about what happens with the note */
export function ResolutionFields({ fields, about }: { fields: ReturnType<typeof useResolution>; about?: string }) {
  const { first, reason, setReason, note, setNote } = fields
  return (
    <>
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
        description={about}
        value={note}
        maxLength={1_000}
        required={reason === 'other'}
        onChange={setNote}
      />
    </>
  )
}
