import type { AlertChannel } from '@backstop/client'
import { Button } from '@mantine/core'
import { channelList } from '../../api/channels.ts'
import { useList } from '../../api/list.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { ChannelBadge } from './health.tsx'
import { describeTarget, nameKind } from './words.ts'

const COLUMNS: readonly Column<AlertChannel>[] = [
  { title: 'State', width: '136px', card: 'line', cell: channel => <ChannelBadge channel={channel} /> },
  textColumn('Name', 'minmax(0, 1fr)', ({ name }) => name, { card: 'title' }),
  textColumn('Kind', '128px', ({ config }) => nameKind(config.kind), { card: 'line' }),
  textColumn('Sends to', 'minmax(0, 1fr)', ({ config }) => describeTarget(config), { tone: 'dim' }),
  timeColumn('Last arrived', '120px', ({ health }) => health.last_success_at),
]

export function Page() {
  const project_id = useProjectId()
  const mayChange = useSession().may('manage', project_id)
  return (
    <ListPage
      title="Channels"
      actions={
        <>
          <Button variant="default" component={ProjectLink} page="deliveries">
            Deliveries
          </Button>
          {mayChange && (
            <Button component={ProjectLink} page="channels/new">
              New channel
            </Button>
          )}
        </>
      }
      list={useList(channelList, { project_id })}
      columns={COLUMNS}
      opens="channels"
      empty="No channel yet, so nobody is notified of an incident."
      next={mayChange && <ProjectLink page="channels/new">Set up the first channel</ProjectLink>}
    />
  )
}
