import type { AlertChannel } from '@backstop/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { channelList } from '../../api/channels.ts'
import { useList } from '../../api/list.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { ChannelBadge } from './health.tsx'
import { describeTarget, nameKind } from './words.ts'

const COLUMNS: readonly Column<AlertChannel>[] = [
  { title: 'State', width: '136px', card: 'line', cell: channel => <ChannelBadge channel={channel} /> },
  { title: 'Name', width: 'minmax(0, 1fr)', card: 'title', cell: ({ name }) => <span dir="auto">{name}</span> },
  { title: 'Kind', width: '128px', card: 'line', cell: ({ config }) => nameKind(config.kind) },
  {
    title: 'Sends to',
    width: 'minmax(0, 1fr)',
    cell: ({ config }) => <span className="dim">{describeTarget(config)}</span>,
  },
  timeColumn('Last arrived', '120px', ({ health }) => health.last_success_at),
]

export function Page() {
  const project_id = useProjectId()
  const { may } = useSession()
  const list = useList(channelList, { project_id })
  const params = { project: project_id }
  const mayChange = may('manage', project_id)
  return (
    <>
      <PageHead
        title="Channels"
        actions={
          <>
            <Button
              variant="default"
              renderRoot={props => <Link to="/p/$project/deliveries" params={params} {...props} />}
            >
              Deliveries
            </Button>
            {mayChange && (
              <Button renderRoot={props => <Link to="/p/$project/channels/new" params={params} {...props} />}>
                New channel
              </Button>
            )}
          </>
        }
      />
      <DataList
        label="Channels"
        list={list}
        columns={COLUMNS}
        hrefOf={({ channel_id }) => `/p/${project_id}/channels/${channel_id}`}
        empty={
          <>
            <p>No channel yet, so nobody is notified of an incident.</p>
            {mayChange && (
              <p>
                <Link to="/p/$project/channels/new" params={params}>
                  Set up the first channel
                </Link>
              </p>
            )}
          </>
        }
      />
    </>
  )
}
