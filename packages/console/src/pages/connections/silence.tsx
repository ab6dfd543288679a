import type { Connection } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Principal, Time } from '../../parts/show/index.ts'
import { SilenceControl } from '../silences/silence-dialog.tsx'
import classes from './connections.module.css'

interface Props {
  connection: Connection
}

/** The silence of the connection, or the button that begins one, and the past ones. */
export function Silence({ connection }: Props) {
  return (
    <section>
      <h2>Silence</h2>
      {connection.silence === null && <p className="dim">Not silenced.</p>}
      <SilenceControl connection={connection} />
      <PastSilences connection={connection} />
    </section>
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
