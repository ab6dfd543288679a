import type { Connection } from '@backstop/client'
import { Button, Group, Modal, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { inboxReplaysQuery, type Outcome, windowCountQuery } from '../../api/inbox.ts'
import { Problem } from '../../parts/problem.tsx'
import classes from './connections.module.css'
import { OUTCOMES } from './words.ts'

interface Props {
  connection: Connection
  /** The outcome that the list shows, which the window begins with. */
  outcome: Outcome | undefined
  isOpen: boolean
  onClose: () => void
}

/** Replays the events of a window. It says how many there are before anything begins. */
export function ReplayWindow({ connection, outcome, isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Replay the events of a window">
      <WindowForm connection={connection} outcome={outcome} onClose={onClose} />
    </Modal>
  )
}

const DAY_MS = 86_400_000
const ANY = 'any'
const OPTIONS = [
  { value: ANY, label: 'Any outcome' },
  ...Object.entries(OUTCOMES).map(([value, { label }]) => ({ value, label: `Only: ${label}` })),
]

function WindowForm({ connection: { connection_id }, outcome, onClose }: Omit<Props, 'isOpen'>) {
  const queryClient = useQueryClient()
  const [from, setFrom] = useState(() => localMinute(Date.now() - DAY_MS))
  const [to, setTo] = useState(() => localMinute(Date.now() + 60_000))
  const [only, setOnly] = useState<Outcome | undefined>(outcome)
  const window = windowOf(connection_id, from, to, only)
  const counted = useQuery({
    ...windowCountQuery(usePaused(window) ?? { connection_id, from: '', to: '' }),
    enabled: window !== null,
  })
  const replay = useMutation({
    mutationFn: (wanted: NonNullable<typeof window>) => api.inboxReplays.create(wanted),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: inboxReplaysQuery(connection_id).queryKey })
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (window !== null) replay.mutate(window)
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      <p className="dim">
        Each event is decided again, as if it arrived now. What was decided stays decided, and no alert is sent twice.
      </p>
      <TextInput
        type="datetime-local"
        label="From"
        value={from}
        onChange={event => setFrom(event.currentTarget.value)}
      />
      <TextInput type="datetime-local" label="To" value={to} onChange={event => setTo(event.currentTarget.value)} />
      <Select
        label="Outcome"
        data={OPTIONS}
        value={only ?? ANY}
        onChange={chosen => setOnly(chosen === ANY || chosen === null ? undefined : (chosen as Outcome))}
      />
      <p role="status">{previewText(window !== null, counted.data, counted.error)}</p>
      {replay.error !== null && <Problem error={replay.error} what="The replay has not begun" />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={replay.isPending} disabled={window === null || counted.data?.count === 0}>
          Replay
        </Button>
      </Group>
    </form>
  )
}

function previewText(
  isWindow: boolean,
  counted: { count: number; isComplete: boolean } | undefined,
  error: Error | null,
): string {
  if (!isWindow) return 'Give a time in “From” that is before the one in “To”.'
  if (error !== null) return 'The events could not be counted. They can be replayed all the same.'
  if (counted === undefined) return 'Counting…'
  if (!counted.isComplete)
    return `At least ${counted.count} events fit. The window is long, so the rest was not counted.`
  if (counted.count === 0) return 'No event fits.'
  return counted.count === 1 ? '1 event fits.' : `${counted.count} events fit.`
}

function windowOf(connection_id: string, from: string, to: string, outcome: Outcome | undefined) {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  if (Number.isNaN(fromMs) || Number.isNaN(toMs) || fromMs >= toMs) return null
  const window = { connection_id, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
  return outcome === undefined ? window : { ...window, outcome }
}

const TYPING_PAUSE_MS = 300

/** The value after a pause of typing, so that not every key counts the events. */
function usePaused<T>(value: T): T {
  const [paused, setPaused] = useState(value)
  const text = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(JSON.parse(text) as T), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

/** A time as the field shows it: in the zone of the reader, to the minute. */
function localMinute(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - offsetMs).toISOString().slice(0, 16)
}
