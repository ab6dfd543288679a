import type { Delivery } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { channelQuery } from '../../api/channels.ts'
import { deliveryQuery } from '../../api/deliveries.ts'
import { localizeTimes } from '../../format/times.ts'
import { Badge } from '../../parts/badges.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { UnreadPage } from '../../parts/unread-page.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import classes from './delivery.module.css'
import { DeliveryBadge } from './delivery-list.tsx'
import { RetryButton } from './retry-button.tsx'
import { describeTarget, nameEvent, nameKind } from './words.ts'

export function Page() {
  const id = useResourceId()
  const projectId = useProjectId()
  const { may } = useSession()
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(id))
  const { data: channel } = useQuery({
    ...channelQuery(delivery?.channel_id ?? ''),
    enabled: delivery !== undefined,
  })
  const above = (
    <Link to="/p/$project/deliveries" params={{ project: projectId }}>
      Deliveries
    </Link>
  )
  if (delivery === undefined) {
    return (
      <UnreadPage title="Delivery" above={above} error={error} retry={() => void refetch()}>
        <Skeleton height={200} width="min(100%, 720px)" />
        <Skeleton height={140} mt="lg" />
      </UnreadPage>
    )
  }
  const params = { project: projectId, id: delivery.channel_id }
  const target = channel === undefined ? '' : describeTarget(channel.config)
  return (
    <>
      <PageHead
        title={nameEvent(delivery.event)}
        above={above}
        actions={may('manage', projectId) && <RetryButton delivery={delivery} />}
      />
      <div className={`body ${classes.body}`}>
        <Facts
          facts={[
            ['State', <DeliveryBadge key="state" delivery={delivery} />],
            ['Why', localizeTimes(delivery.reason)],
            [
              'Channel',
              channel === undefined ? (
                `${nameKind(delivery.channel_kind)} (deleted)`
              ) : (
                <Link key="channel" className="link" to="/p/$project/channels/$id" params={params}>
                  {channel.name}
                </Link>
              ),
            ],
            ['Created', <Time key="created" at={delivery.created_at} />],
            ['Next attempt', delivery.next_attempt_at && <Time key="next" at={delivery.next_attempt_at} />],
            ['Held until', delivery.held_until && <Time key="held" at={delivery.held_until} />],
            ['Reported by', delivery.told_by && <ReportedBy key="by" id={delivery.told_by} projectId={projectId} />],
            ['Alert', <CopyId key="alert" id={delivery.alert_id} length={32} />],
            ['Delivery', <CopyId key="delivery" id={delivery.delivery_id} length={32} />],
          ]}
        />
        <h2>Attempts</h2>
        {delivery.attempts.length === 0 && <p className="dim">None yet.</p>}
        {delivery.attempts.toReversed().map(attempt => (
          <Attempt key={attempt.attempt} attempt={attempt} delivery={delivery} target={target} />
        ))}
      </div>
    </>
  )
}

function ReportedBy({ id, projectId }: { id: string; projectId: string }) {
  return (
    <Link className="link" to="/p/$project/deliveries/$id" params={{ project: projectId, id }}>
      The message that contained it
    </Link>
  )
}

interface AttemptProps {
  attempt: Delivery['attempts'][number]
  delivery: Delivery
  target: string
}

/** One attempt: what was sent where, and beside it what came back. */
function Attempt({ attempt, delivery, target }: AttemptProps) {
  const { outcome, status, error, response, at, duration_ms } = attempt
  return (
    <article className={classes.attempt} aria-label={`Attempt ${attempt.attempt}`}>
      <div className={classes.line}>
        <Badge tone={outcome === 'delivered' ? 'good' : 'alarm'}>
          {`Attempt ${attempt.attempt} ${outcome === 'delivered' ? 'arrived' : 'failed'}`}
        </Badge>
        <span className="faint">
          <Time at={at} />
        </span>
      </div>
      <div className={classes.sides}>
        <div>
          <h3>Request</h3>
          <p>
            {nameKind(delivery.channel_kind)}: {nameEvent(delivery.event).toLowerCase()}
          </p>
          {target !== '' && (
            <p className={classes.target} dir="auto">
              {target}
            </p>
          )}
        </div>
        <div>
          <h3>Response</h3>
          <p>
            {status === null ? 'No answer' : `Answer ${status}`} after {duration_ms} ms
          </p>
          {error !== null && <p dir="auto">{error}</p>}
          {response !== null && response !== '' && <LongText className={classes.answer} dir="auto" text={response} />}
        </div>
      </div>
    </article>
  )
}
