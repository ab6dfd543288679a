import type { Connection } from '@backstop/client'
import { Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { connectionQuery } from '../../api/connections.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Principal } from '../../parts/name-of.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'

const DURATIONS = [
  { value: '3600', label: '1 hour' },
  { value: '14400', label: '4 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

/** The silence of the connection with its reason and end, and the form that begins one. */
export function Silence({ connection }: { connection: Connection }) {
  const { may } = useSession()
  const { silence, project_id, connection_id } = connection
  const mayManage = may('manage', project_id)
  const readAgain = useReadAgain(project_id, connection_id)
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
            No alert about this connection is sent until <ExactEnd at={silence.ends_at} /> (
            <Time at={silence.ends_at} />
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
        <div>
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
        </div>
      )}
      <PastSilences connection={connection} />
    </section>
  )
}

function ExactEnd({ at }: { at: string }) {
  return <>{new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(Date.parse(at))}</>
}

function useReadAgain(projectId: string, connectionId: string): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    await queryClient.invalidateQueries({ queryKey: connectionQuery(projectId, connectionId).queryKey })
    void queryClient.invalidateQueries({ queryKey: ['connections', 'list'] })
    void queryClient.invalidateQueries({ queryKey: ['silences', connectionId] })
  }
}

function SilenceForm({ connection, onBegun }: { connection: Connection; onBegun: () => Promise<void> }) {
  const { project_id, connection_id } = connection
  const [isOpen, setIsOpen] = useState(false)
  const [reason, setReason] = useState('')
  const [duration, setDuration] = useState('3600')
  const begin = useMutation({
    mutationFn: () =>
      api.silences.create({ project_id, connection_id, duration_seconds: Number(duration), reason: reason.trim() }),
    onSuccess: onBegun,
  })
  if (!isOpen) {
    return (
      <div>
        <Button variant="default" onClick={() => setIsOpen(true)}>
          Silence this connection…
        </Button>
      </div>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    begin.mutate()
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        label="Reason"
        description="Shown with the connection and its incidents, for example “Refund run after the outage, ticket 4711”."
        required
        autoFocus
        value={reason}
        onChange={event => setReason(event.currentTarget.value)}
      />
      <Select label="For" data={DURATIONS} value={duration} onChange={chosen => setDuration(chosen ?? duration)} />
      <Button type="submit" variant="default" loading={begin.isPending} disabled={reason.trim() === ''}>
        Begin the silence
      </Button>
      {begin.error !== null && <Problem error={begin.error} what="The connection is not silenced" />}
    </form>
  )
}

function PastSilences({ connection: { connection_id } }: { connection: Connection }) {
  const { data } = useQuery({
    queryKey: ['silences', connection_id],
    queryFn: ({ signal }) => api.silences.list({ connection_id, limit: 10 }, { signal }),
  })
  const past = data?.data.filter(({ state }) => state === 'ended') ?? []
  if (past.length === 0) return null
  return (
    <details>
      <summary className="dim">Past silences</summary>
      <ul className={classes.lines}>
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
