import type { Connection } from '@backstop/client'
import { Group, NumberInput, Select, TextInput } from '@mantine/core'
import { api, useWrite } from '../../api/client.ts'
import { refreshSilences } from '../../api/connections.ts'
import { formatDayAndTime } from '../../format/times.ts'
import { Form, useFields } from '../../parts/form/index.ts'
import { useNow } from '../../parts/show/index.ts'

const UNITS = [
  { value: '60', label: 'minutes' },
  { value: '3600', label: 'hours' },
  { value: '86400', label: 'days' },
]
/** The longest silence of the API. */
const MOST_S = 30 * 86_400

interface Props {
  connection: Connection
  /** The reason that is filled in. */
  reason?: string | undefined
  close: () => void
}

/** Begins a silence of any time: two hours, unless the person chooses another time. */
export function SilenceForm({ connection: { project_id, connection_id }, reason = '', close }: Props) {
  const now = useNow()
  const { fields, field } = useFields({ count: 2 as number | string, unit: '3600', reason })
  const seconds = Math.round(Number(fields.count) * Number(fields.unit))
  const isTime = seconds >= 60 && seconds <= MOST_S
  const given = fields.reason.trim()
  const begin = useWrite(
    () => api.silences.create({ project_id, connection_id, duration_seconds: seconds, reason: given }),
    {
      onDone() {
        close()
        return refreshSilences(connection_id)
      },
    },
  )
  return (
    <Form
      write={begin}
      failed="The connection is not silenced"
      button="Begin the silence"
      isComplete={isTime && given !== ''}
      onSubmit={() => begin.mutate()}
      onCancel={close}
    >
      <p className="dim">
        It hides every alert about this connection, also that of a leaked key. Incidents open as usual, and their alerts
        are not sent later.
      </p>
      <Group gap="sm" align="end" grow>
        <NumberInput label="For" data-autofocus min={0} step={1} hideControls {...field('count')} />
        <Select aria-label="Unit of time" allowDeselect={false} data={UNITS} {...field('unit')} />
      </Group>
      <p className="dim">{isTime ? `Ends ${formatDayAndTime(now + seconds * 1_000)}` : 'Give at most 30 days'}</p>
      <TextInput
        label="Reason"
        description="Shown with the connection and its incidents, for example “Refund run after the outage, ticket 4711”."
        required
        maxLength={500}
        {...field('reason')}
      />
    </Form>
  )
}
