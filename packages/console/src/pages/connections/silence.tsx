import type { Connection } from '@backstop/client'
import { Button, Group, Select, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { api, refresh, useWrite } from '../../api/client.ts'
import { connectionQuery } from '../../api/connections.ts'
import { ConfirmButton, handleSubmit, useFields } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { Principal, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'

const DURATIONS = [
  { value: '3600', label: '1 hour' },
  { value: '14400', label: '4 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

interface Props {
  connection: Connection
}

/** The silence of the connection with its reason and end, and the form that begins one. */
export function Silence({ connection }: Props) {
  const { may } = useSession()
  const { silence, project_id, connection_id } = connection
  const mayManage = may('manage', project_id)
  const readAgain = async () => {
    await refresh(connectionQuery(project_id, connection_id).queryKey)
    void refresh(['connections', 'list'], ['silences', connection_id])
  }
  return (
    <section>
      <h2>Silence</h2>
      {silence === null ? (
        <p className="dim">
          Not silenced. A silence hides every alert about this connection, also that of a leaked key. Incidents open as
          usual.
        </p>
      ) : (
        <div className={classes.notice}>
          <p>
            No alert about this connection is sent until {exactEnd(silence.ends_at)} (<Time at={silence.ends_at} />
            ).
          </p>
          <p dir="auto">“{silence.reason}”</p>
          <p className="dim">
            Begun by <Principal id={silence.created_by} />
          </p>
        </div>
      )}
      {mayManage && silence === null && <SilenceForm connection={connection} onBegun={readAgain} />}
      {mayManage && silence !== null && (
        <Group>
          <ConfirmButton
            question="End the silence now?"
            consequence="Alerts about this connection are sent again from now on. Those that were held back are not sent later."
            onConfirm={async () => {
              await api.silences.end(silence.silence_id)
              await readAgain()
            }}
          >
            End the silence
          </ConfirmButton>
        </Group>
      )}
      <PastSilences connection={connection} />
    </section>
  )
}

function exactEnd(at: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(Date.parse(at))
}

function SilenceForm({ connection, onBegun }: Props & { onBegun: () => Promise<void> }) {
  const { project_id, connection_id } = connection
  const [isOpen, { open }] = useDisclosure()
  const { fields, field } = useFields({ reason: '', duration: '3600' })
  const reason = fields.reason.trim()
  const begin = useWrite(
    () => api.silences.create({ project_id, connection_id, duration_seconds: Number(fields.duration), reason }),
    { onDone: onBegun },
  )
  if (!isOpen) {
    return (
      <Group>
        <Button variant="default" onClick={open}>
          Silence this connection…
        </Button>
      </Group>
    )
  }
  return (
    <form className={classes.form} onSubmit={handleSubmit(() => begin.mutate())}>
      <TextInput
        label="Reason"
        description="Shown with the connection and its incidents, for example “Refund run after the outage, ticket 4711”."
        required
        autoFocus
        {...field('reason')}
      />
      <Select label="For" data={DURATIONS} {...field('duration')} />
      <Button type="submit" variant="default" loading={begin.isPending} disabled={reason === ''}>
        Begin the silence
      </Button>
      <Problem error={begin.error} what="The connection is not silenced" />
    </form>
  )
}

function PastSilences({ connection: { connection_id } }: Props) {
  const { data } = useQuery({
    queryKey: ['silences', connection_id],
    queryFn: ({ signal }) => api.silences.list({ connection_id, limit: 10 }, { signal }),
  })
  const past = data?.data.filter(({ state }) => state === 'ended') ?? []
  if (past.length === 0) return null
  return (
    <details>
      <summary className="dim">Past silences</summary>
      <ul className={`lines ${classes.lines}`}>
        {past.map(({ silence_id, reason, created_at, ends_at, created_by }) => (
          <li key={silence_id}>
            <span dir="auto">{reason}</span>
            <span className="dim">
              <Time at={created_at} /> to <Time at={ends_at} />, by <Principal id={created_by} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
