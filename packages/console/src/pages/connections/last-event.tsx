import { useQuery } from '@tanstack/react-query'
import { lastEventQuery } from '../../api/inbox.ts'
import { Time } from '../../parts/time.tsx'

/** When the last event of a connection arrived. */
export function LastEvent({ connectionId }: { connectionId: string }) {
  const { data, error } = useQuery(lastEventQuery(connectionId))
  if (error !== null) return <span className="faint">Unknown</span>
  if (data === undefined) return null
  return (
    <span className="dim" style={{ whiteSpace: 'nowrap' }}>
      {data === null ? 'No event' : <Time at={data} />}
    </span>
  )
}
