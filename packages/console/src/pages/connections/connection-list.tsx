import type { Connection } from '@backstop/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { connectionList } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { Badge } from '../../parts/badges.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { LastEvent } from './last-event.tsx'
import { OutOfBandChoice } from './out-of-band-choice.tsx'
import { PROVIDER_NAMES } from './words.ts'

export function Page() {
  const project_id = useProjectId()
  const { may } = useSession()
  const mayManage = may('manage', project_id)
  const list = useList(connectionList, { project_id })
  return (
    <>
      <PageHead
        title="Connections"
        actions={
          mayManage && (
            <Button component={Link} to={`/p/${project_id}/connections/new`}>
              Connect an account
            </Button>
          )
        }
      />
      <DataList
        label="Connections"
        list={list}
        columns={columnsFor(mayManage)}
        hrefOf={({ connection_id }) => `/p/${project_id}/connections/${connection_id}`}
        empty={
          <>
            <p>No billing account is connected, so Backstop sees no refund and no cancellation of this project.</p>
            {mayManage && (
              <p>
                <Link to="/p/$project/connections/new" params={{ project: project_id }}>
                  Connect the first account
                </Link>
              </p>
            )}
          </>
        }
      />
    </>
  )
}

function columnsFor(mayManage: boolean): readonly Column<Connection>[] {
  return [
    {
      title: 'Name',
      width: 'minmax(160px, 1fr)',
      card: 'title',
      cell: ({ name }) => (
        <span className={classes.name} dir="auto">
          {name}
        </span>
      ),
    },
    {
      title: 'Account at',
      width: '104px',
      cell: ({ kind }) => <span className="dim">{PROVIDER_NAMES[kind]}</span>,
    },
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
      title: 'out_of_band',
      width: '170px',
      card: 'line',
      cell: connection => <OutOfBandChoice connection={connection} mayChange={mayManage} />,
    },
  ]
}

/** Silent when all is well. */
function ConnectionState({ connection }: { connection: Connection }) {
  if (connection.status === 'needs_setup') return <Badge tone="waits">Setup incomplete</Badge>
  if (connection.reading.state === 'failing') return <Badge tone="alarm">Cannot be read</Badge>
  if (connection.silence !== null) return <Badge tone="waits">Silenced</Badge>
  return <span className="dim">{connection.reading.state === 'off' ? 'Not read' : 'Works'}</span>
}
