import type { AlertChannel } from '@backstop/client'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { channelList } from '../../api/channels.ts'
import { api } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { Badge } from '../../parts/badges.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'

/** Where alerts go: each channel with its test, or the way to the first one. */
export function FirstChannel({ projectId }: { projectId: string }) {
  const { may } = useSession()
  const { items, isLoading, error, retry } = useList(channelList, { project_id: projectId })
  const mayManage = may('manage', projectId)
  return (
    <section>
      <h2>Who gets the alerts</h2>
      {error !== null && <Problem error={error} retry={retry} what="The channels could not be read" />}
      {!isLoading && error === null && items.length === 0 && (
        <p className="dim">No channel yet, so an alert reaches nobody.</p>
      )}
      <ul className={classes.lines}>
        {items.slice(0, 5).map(channel => (
          <Channel key={channel.channel_id} channel={channel} mayTest={mayManage} />
        ))}
      </ul>
      {mayManage && (
        <div>
          <Button component={Link} to={`/p/${projectId}/channels/new`} variant="default">
            Add {items.length === 0 ? 'the first channel' : 'a channel'}
          </Button>
        </div>
      )}
    </section>
  )
}

function Channel({ channel, mayTest }: { channel: AlertChannel; mayTest: boolean }) {
  const test = useMutation({ mutationFn: () => api.alertChannels.test(channel.channel_id) })
  return (
    <li>
      <div className={classes.spread}>
        <Link
          className="link"
          to="/p/$project/channels/$id"
          params={{ project: channel.project_id, id: channel.channel_id }}
        >
          <span dir="auto">{channel.name}</span>
        </Link>
        {mayTest && (
          <Button variant="default" size="compact-xs" loading={test.isPending} onClick={() => test.mutate()}>
            Send a test
          </Button>
        )}
      </div>
      <div role="status">
        {test.data?.delivered === true && <Badge tone="good">The receiver accepted the test</Badge>}
        {test.data?.delivered === false && (
          <span className={classes.danger}>Not delivered: {test.data.error ?? `status ${test.data.status}`}</span>
        )}
      </div>
      {test.error !== null && <Problem error={test.error} what="The test was not sent" />}
    </li>
  )
}
