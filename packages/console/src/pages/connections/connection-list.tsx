import type { Connection } from '@backstop/client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { connectionList, lastEventQuery } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { type Column, ListPage, textColumn } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { Badge, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { OutOfBandChoice } from './out-of-band-choice.tsx'
import { PROVIDER_NAMES } from './words.ts'

export function Page() {
  const project_id = useProjectId()
  const { may } = useSession()
  const mayManage = may('manage', project_id)
  return (
    <ListPage
      title="Connections"
      actions={
        mayManage && (
          <Button component={ProjectLink} page="connections/new">
            Connect an account
          </Button>
        )
      }
      list={useList(connectionList, { project_id })}
      columns={columnsFor(mayManage)}
      opens="connections"
      empty="No billing account is connected, so Backstop sees no refund and no cancellation of this project."
      next={mayManage && <ProjectLink page="connections/new">Connect the first account</ProjectLink>}
    />
  )
}

function columnsFor(mayManage: boolean): readonly Column<Connection>[] {
  return [
    textColumn('Name', 'minmax(160px, 1fr)', ({ name }) => name, { card: 'title' }),
    textColumn('Account at', '104px', ({ kind }) => PROVIDER_NAMES[kind], { tone: 'dim' }),
    {
      title: 'Last event',
      width: '120px',
      card: 'end',
      cell: ({ connection_id }) => <LastEvent connectionId={connection_id} />,
    },
    {
      title: 'State',
      width: '150px',
      card: 'line',
      cell: connection => <ConnectionState connection={connection} />,
    },
    {
      title: 'Alerts',
      about: 'out_of_band',
      width: '170px',
      card: 'line',
      cell: connection => <OutOfBandChoice connection={connection} mayChange={mayManage} />,
    },
  ]
}

/** When the last event of a connection arrived. */
function LastEvent({ connectionId }: { connectionId: string }) {
  const { data, error } = useQuery(lastEventQuery(connectionId))
  if (error !== null) return <span className="faint">Unknown</span>
  if (data === undefined) return null
  return <span className="dim">{data === null ? 'No event' : <Time at={data} />}</span>
}

/** Silent when all is well. */
function ConnectionState({ connection }: { connection: Connection }) {
  if (connection.status === 'needs_setup') return <Badge tone="waits">Setup incomplete</Badge>
  if (connection.reading.state === 'failing') return <Badge tone="alarm">Cannot be read</Badge>
  if (connection.silence !== null) return <Badge tone="waits">Silenced</Badge>
  return <span className="dim">{connection.reading.state === 'off' ? 'Not read' : 'Works'}</span>
}
