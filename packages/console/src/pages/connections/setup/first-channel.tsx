import type { AlertChannel } from '@backstop/client'
import { Button, Group } from '@mantine/core'
import { channelList } from '../../../api/channels.ts'
import { api, useWrite } from '../../../api/client.ts'
import { useList } from '../../../api/list.ts'
import { Problem, ProjectLink } from '../../../parts/page/index.ts'
import { Badge } from '../../../parts/show/index.ts'
import { useSession } from '../../../session/session.ts'
import classes from '../connections.module.css'

/** Where alerts go: each channel with its test, or the way to the first one. */
export function FirstChannel({ projectId }: { projectId: string }) {
  const { may } = useSession()
  const { items, isLoading, error, retry } = useList(channelList, { project_id: projectId })
  const mayManage = may('manage', projectId)
  return (
    <section>
      <h2>Who gets the alerts</h2>
      <Problem error={error} retry={retry} what="The channels could not be read" />
      {!isLoading && error === null && items.length === 0 && (
        <p className="dim">No channel yet, so an alert reaches nobody.</p>
      )}
      <ul className={`lines ${classes.lines}`}>
        {items.slice(0, 5).map(channel => (
          <Channel key={channel.channel_id} channel={channel} mayTest={mayManage} />
        ))}
      </ul>
      {mayManage && (
        <Group>
          <Button component={ProjectLink} page="channels/new" variant="default">
            Add {items.length === 0 ? 'the first channel' : 'a channel'}
          </Button>
        </Group>
      )}
    </section>
  )
}

function Channel({ channel, mayTest }: { channel: AlertChannel; mayTest: boolean }) {
  const { data, error, isPending, mutate } = useWrite(() => api.alertChannels.test(channel.channel_id))
  return (
    <li>
      <Group justify="space-between" align="baseline" gap="4px 16px">
        <ProjectLink page="channels" id={channel.channel_id}>
          <span dir="auto">{channel.name}</span>
        </ProjectLink>
        {mayTest && (
          <Button variant="default" size="compact-xs" loading={isPending} onClick={() => mutate()}>
            Send a test
          </Button>
        )}
      </Group>
      <div role="status">
        {data?.delivered === true && <Badge tone="good">The receiver accepted the test</Badge>}
        {data?.delivered === false && (
          <span className={classes.danger}>Not delivered: {data.error ?? `status ${data.status}`}</span>
        )}
      </div>
      <Problem error={error} what="The test was not sent" />
    </li>
  )
}
