import type { AlertChannel, Connection } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../../api/channels.ts'
import { connectionsQuery } from '../../api/connections.ts'
import { useLiveRefresh } from '../../parts/list/index.ts'
import { Problem, ProjectLink } from '../../parts/page/index.ts'
import { Badge } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { failedShare, stateOf } from '../channels/channel-state.ts'
import classes from './overview.module.css'

interface Row {
  readonly id: string
  readonly kind: 'connections' | 'channels'
  readonly name: string
  readonly tone: 'alarm' | 'waits'
  readonly state: string
  readonly text: string
}

const LIVE = ['connection', 'channel'] as const
const KEYS = [
  ['connections', 'all'],
  ['channels', 'all'],
] as const

/** The connections and channels that need somebody. Healthy ones are counted in one line. */
export function HealthRows({ project }: { project: string }) {
  const connections = useQuery(connectionsQuery(project))
  const channels = useQuery(channelsQuery(project))
  useLiveRefresh(LIVE, KEYS)
  if (connections.data === undefined || channels.data === undefined) {
    const error = connections.error ?? channels.error
    if (error === null) return null
    return (
      <Problem
        error={error}
        what="Connections and channels could not be read"
        retry={() => {
          void connections.refetch()
          void channels.refetch()
        }}
      />
    )
  }
  const rows = [...connections.data.flatMap(connectionRow), ...channels.data.flatMap(channelRow)]
  const healthy = connections.data.length + channels.data.length - rows.length
  return (
    <section className={classes.section}>
      <h2>Connections and channels</h2>
      <ul className={classes.rows}>
        {rows.map(row => (
          <li key={row.id}>
            <ProjectLink className="" page={row.kind} id={row.id}>
              <Badge tone={row.tone}>{row.state}</Badge>
              <span className="cut" dir="auto" title={row.text}>
                {row.name} <span className="dim">{row.text}</span>
              </span>
              <span className="faint">{row.kind === 'channels' ? 'Channel' : 'Connection'}</span>
            </ProjectLink>
          </li>
        ))}
      </ul>
      <Rest project={project} connections={connections.data.length} channels={channels.data.length} healthy={healthy} />
    </section>
  )
}

interface RestProps {
  project: string
  connections: number
  channels: number
  healthy: number
}

function Rest({ project, connections, channels, healthy }: RestProps) {
  const mayManage = useSession().may('manage', project)
  return (
    <div className={`dim ${classes.more}`}>
      {healthy > 0 && (
        <p>
          {healthy === connections + channels
            ? `All ${healthy} work.`
            : `${healthy} ${healthy === 1 ? 'other works' : 'others work'}.`}
        </p>
      )}
      {connections === 0 && (
        <p>
          No account is connected yet.{' '}
          {mayManage && <ProjectLink page="connections/new">Connect an account</ProjectLink>}
        </p>
      )}
      {channels === 0 && (
        <p>Nobody gets alerts yet. {mayManage && <ProjectLink page="channels/new">Add a channel</ProjectLink>}</p>
      )}
    </div>
  )
}

function connectionRow({ connection_id: id, name, status, reading, silence, warnings }: Connection): Row[] {
  const row = { id, name, kind: 'connections' as const }
  if (status === 'needs_setup') return [{ ...row, tone: 'waits', state: 'Needs setup', text: '' }]
  if (reading.state === 'failing') return [{ ...row, tone: 'alarm', state: 'Not readable', text: reading.error ?? '' }]
  if (silence !== null) return [{ ...row, tone: 'waits', state: 'Silenced', text: silence.reason }]
  const [warning] = warnings
  return warning === undefined ? [] : [{ ...row, tone: 'waits', state: 'Warning', text: warning.message }]
}

function channelRow(channel: AlertChannel): Row[] {
  const { channel_id: id, name, health } = channel
  const { word } = stateOf(channel)
  const row = { id, name, kind: 'channels' as const, state: word }
  switch (word) {
    case 'Works':
    case 'Not used yet':
      return []
    case 'Disabled':
      return [{ ...row, tone: 'alarm', text: health.disabled_reason ?? '' }]
    case 'Failing':
      return [{ ...row, tone: 'alarm', text: health.last_error ?? '' }]
    case 'Unreliable':
      return [{ ...row, tone: 'waits', text: failedShare(health.success_rate ?? 0) }]
    default:
      return [{ ...row, tone: 'waits', text: (word === 'Paused' ? health.held_reason : health.warning) ?? '' }]
  }
}
