import type { Delivery } from '@backstop/client'
import { Group, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { channelQuery, deliveryQuery } from '../../api/channels.ts'
import { localizeTimes } from '../../format/times.ts'
import { PageHead, ProjectLink, ThingPage, useProjectId, useResourceId } from '../../parts/page/index.ts'
import { Badge, Facts, idFact, LongText, Time, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { describeTarget, nameEvent, nameKind } from '../channels/words.ts'
import classes from './delivery.module.css'
import { DeliveryBadge } from './delivery-list.tsx'
import { RetryButton } from './retry-button.tsx'

const ABOVE = ['deliveries', 'Deliveries'] as const

export function Page() {
  const loading = (
    <>
      <Skeleton height={200} width="min(100%, 720px)" />
      <Skeleton height={140} mt="lg" />
    </>
  )
  return (
    <ThingPage kind="Delivery" above={ABOVE} query={useQuery(deliveryQuery(useResourceId()))} loading={loading}>
      {delivery => <DeliveryPage delivery={delivery} />}
    </ThingPage>
  )
}

function DeliveryPage({ delivery }: { delivery: Delivery }) {
  const projectId = useProjectId()
  const { may } = useSession()
  const { data: channel } = useQuery(channelQuery(delivery.channel_id))
  const target = channel === undefined ? '' : describeTarget(channel.config)
  return (
    <>
      <PageHead
        title={delivery.about.title}
        above={ABOVE}
        actions={may('manage', projectId) && <RetryButton delivery={delivery} />}
      />
      <Stack className="body" gap="md" pb={40}>
        <Facts
          facts={[
            ['About', aboutFact(delivery)],
            ['Message', nameEvent(delivery.event)],
            ['State', <DeliveryBadge key="state" delivery={delivery} />],
            ['Why', localizeTimes(delivery.reason)],
            [
              'Channel',
              channel === undefined ? (
                `${nameKind(delivery.channel_kind)} (deleted)`
              ) : (
                <ProjectLink key="channel" page="channels" id={delivery.channel_id}>
                  {channel.name}
                </ProjectLink>
              ),
            ],
            ['Created', timeFact(delivery.created_at)],
            ['Next attempt', timeFact(delivery.next_attempt_at)],
            ['Held until', timeFact(delivery.held_until)],
            [
              'Reported by',
              delivery.told_by && (
                <ProjectLink key="by" page="deliveries" id={delivery.told_by}>
                  The message that contained it
                </ProjectLink>
              ),
            ],
            ['Alert', idFact(delivery.alert_id)],
            ['Delivery', idFact(delivery.delivery_id)],
          ]}
        />
        <h2>Attempts</h2>
        {delivery.attempts.length === 0 && <p className="dim">None yet.</p>}
        {delivery.attempts.toReversed().map(attempt => (
          <Attempt key={attempt.attempt} attempt={attempt} delivery={delivery} target={target} />
        ))}
      </Stack>
    </>
  )
}

const PAGES = { incidents: 'incident', storms: 'storm', operations: 'operation', budgets: 'budget', runs: 'run' }

/** The way to what the message is about. */
function aboutFact({ about: { path } }: Delivery) {
  if (path === null) return null
  const place = path.split('/')[3] ?? ''
  return (
    <Link to={path as '/'} className="link">
      {`Open the ${PAGES[place as keyof typeof PAGES] ?? 'refund or cancellation'}`}
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
      <Group justify="space-between" wrap="nowrap">
        <Badge tone={outcome === 'delivered' ? 'good' : 'alarm'}>
          {`Attempt ${attempt.attempt} ${outcome === 'delivered' ? 'arrived' : 'failed'}`}
        </Badge>
        <span className="faint">
          <Time at={at} />
        </span>
      </Group>
      <div className={classes.sides}>
        <div>
          <h3>Request</h3>
          <p>
            {nameKind(delivery.channel_kind)}: {nameEvent(delivery.event).toLowerCase()}
          </p>
          {target !== '' && (
            <p className="dim" style={{ overflowWrap: 'anywhere' }} dir="auto">
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
          {response !== null && response !== '' && <LongText dir="auto" text={response} height={280} />}
        </div>
      </div>
    </article>
  )
}
