import type { Connection } from '@backstop/client'
import { Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { api, useWrite } from '../../api/client.ts'
import { type InboxOutcome, inboxReplaysQuery, type WindowCount, windowCountQuery } from '../../api/connections.ts'
import { localMinute } from '../../format/times.ts'
import { Form, useFields } from '../../parts/form/index.ts'
import { OUTCOMES } from './words.ts'

interface Props {
  connection: Connection
  /** The outcome that the list shows, which the window begins with. */
  outcome: InboxOutcome | undefined
  onClose: () => void
}

const DAY_MS = 86_400_000
const TYPING_PAUSE_MS = 300
const ANY = 'any'
const OPTIONS = [
  { value: ANY, label: 'Any outcome' },
  ...Object.entries(OUTCOMES).map(([value, { label }]) => ({ value, label: `Only: ${label}` })),
]

/** Replays the events of a window. It says how many there are before anything begins. */
export function ReplayWindow({ connection: { connection_id }, outcome, onClose }: Props) {
  const { fields, field } = useFields(() => ({
    from: localMinute(Date.now() - DAY_MS),
    to: localMinute(Date.now() + 60_000),
    only: (outcome ?? ANY) as InboxOutcome | typeof ANY,
  }))
  const window = windowOf(connection_id, fields)
  // After a pause of typing, so that not every key counts the events.
  const [counted] = useDebouncedValue(JSON.stringify(window), TYPING_PAUSE_MS)
  const { data, error } = useQuery({
    ...windowCountQuery((JSON.parse(counted) as typeof window) ?? { connection_id, from: '', to: '' }),
    enabled: window !== null,
  })
  const replay = useWrite((wanted: NonNullable<typeof window>) => api.inboxReplays.create(wanted), {
    refresh: [inboxReplaysQuery(connection_id).queryKey],
    onDone: onClose,
  })
  return (
    <Form
      write={replay}
      failed="The replay has not begun"
      button="Replay"
      isComplete={window !== null && data?.count !== 0}
      onSubmit={() => window !== null && replay.mutate(window)}
      onCancel={onClose}
    >
      <p className="dim">
        Each event is decided again, as if it arrived now. What was decided stays decided, and no alert is sent twice.
      </p>
      <TextInput type="datetime-local" label="From" {...field('from')} />
      <TextInput type="datetime-local" label="To" {...field('to')} />
      <Select label="Outcome" data={OPTIONS} {...field('only')} />
      <p role="status">{previewText(window !== null, data, error)}</p>
    </Form>
  )
}

function previewText(isWindow: boolean, counted: WindowCount | undefined, error: Error | null): string {
  if (!isWindow) return 'Give a time in “From” that is before the one in “To”.'
  if (error !== null) return 'The events could not be counted. They can be replayed all the same.'
  if (counted === undefined) return 'Counting…'
  if (!counted.isComplete)
    return `At least ${counted.count} events fit. The window is long, so the rest was not counted.`
  if (counted.count === 0) return 'No event fits.'
  return counted.count === 1 ? '1 event fits.' : `${counted.count} events fit.`
}

interface Fields {
  readonly from: string
  readonly to: string
  readonly only: InboxOutcome | typeof ANY
}

function windowOf(connection_id: string, { from, to, only }: Fields) {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  if (Number.isNaN(fromMs) || Number.isNaN(toMs) || fromMs >= toMs) return null
  const window = { connection_id, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
  return only === ANY ? window : { ...window, outcome: only }
}
