import { HEADERS, INBOUND_TOPICS, type TopicName } from '@backstop/contracts'
import type { Consumer } from '@backstop/kit/bus'
import { createPeriodic, type Periodic } from '@backstop/kit/clock'
import { createWorkLoop, type Received, type WorkLoopOptions } from '@backstop/kit/consume'
import { joinCalls } from '@backstop/kit/join-calls'
import { JudgedEvents } from './judged-events.ts'
import { type Backlog, endBacklog, noteHandled } from './rules/backlog.ts'

/** An event is new for so long, in milliseconds. The lane skips older ones, so that it never has a backlog of its own. */
const NEW_MS = 30_000
/** Events that arrived this long before the lane joined its group are judged in it, in milliseconds: it opens some seconds late. */
const BEGINS_BEFORE_MS = 10_000
const LOOK_EVERY_MS = 1_000
/** The lane has work if it judged an event within this time, in milliseconds. */
const HAS_WORK_MS = 2_000

const TOPICS = Object.fromEntries(Object.values(INBOUND_TOPICS).map(topic => [topic, 'inbound-event'])) as Record<
  TopicName,
  'inbound-event'
>

export interface NewEventLaneOptions
  extends Omit<WorkLoopOptions<'inbound-event'>, 'groupId' | 'topics' | 'handle' | 'deadTopic' | 'deadLetterLog'> {
  readonly maxBatchMessages: number
  /** Maximum number of batches that are judged at once. */
  readonly maxBatchesAtOnce: number
  /** Judges events, which may be judged already or at the same time. */
  judge(events: readonly Received<'inbound-event'>[]): Promise<void>
}

/** A second consumer of the events, which judges new ones while the first has a backlog (docs/adr/0022). */
export interface NewEventLane extends Periodic {
  /** Notes that the consumer of all events has handled one that was sent at this time, in milliseconds since the epoch. */
  noteHandled(sentAtMs: number): void
  /** True, once, if this process has judged the event in the lane, so that it need not be handled again. */
  takeJudged(event: Received<'inbound-event'>): boolean
  /** True while it has events to judge. */
  hasWork(): boolean
}

/**
 * The lane commits nothing, and whatever it skips, cannot judge, or has not judged before a crash, is in the backlog of the first consumer. That one
 * skips what the lane of the same process has judged, and finds the rest in the inbox, like a repeated message. So the lane can only make a
 * verdict earlier.
 */
export function createNewEventLane(options: NewEventLaneOptions): NewEventLane {
  const { clock, logger, maxBatchMessages, maxBatchesAtOnce, judge } = options
  let backlog: Backlog
  let consumer: Consumer | undefined
  let hasFailed = false
  let judgedAtMs = Number.NEGATIVE_INFINITY
  let judged = new JudgedEvents()

  const isNew = ({ timestampMs, headers }: Received) =>
    clock.now() - timestampMs <= NEW_MS && headers[HEADERS.replayId] === undefined

  function open(): Consumer {
    // Work that ends after the lane was closed must not add to the events of the next one.
    const own = new JudgedEvents()
    judged = own
    return createWorkLoop({
      ...options,
      groupId: 'reconciler.new-events',
      topics: TOPICS,
      deadTopic: null,
      onlyRecentMs: BEGINS_BEFORE_MS,
      handle: joinCalls(
        async events => {
          const fresh = events.filter(isNew)
          if (fresh.length === 0) return
          judgedAtMs = clock.now()
          await judge(fresh)
          for (const event of fresh) own.add(event)
        },
        { maxItems: maxBatchMessages, maxRuns: maxBatchesAtOnce },
      ),
      // The other consumers end the process if they fail too. The lane alone must not.
      onFatal(error) {
        hasFailed = true
        logger.error({ error }, 'new_event_lane.failed')
      },
    })
  }

  async function close(): Promise<void> {
    const closing = consumer
    consumer = undefined
    await closing?.stop()
    judged = new JudgedEvents()
  }

  const timer = createPeriodic({
    clock,
    pauseMs: LOOK_EVERY_MS,
    async run() {
      backlog = endBacklog(backlog, clock.now())
      const isWanted = backlog !== undefined && !hasFailed
      if (isWanted === (consumer !== undefined)) return
      logger.info({}, isWanted ? 'new_event_lane.opened' : 'new_event_lane.closed')
      if (!isWanted) return close()
      consumer = open()
      await consumer.start()
    },
    onFailure: error => logger.warn({ error }, 'new_event_lane.unchanged'),
  })
  return {
    start: () => timer.start(),
    async stop() {
      await timer.stop()
      await close()
    },
    noteHandled(sentAtMs) {
      const now = clock.now()
      backlog = noteHandled(backlog, now - sentAtMs, now)
    },
    takeJudged: event => judged.take(event),
    hasWork: () => consumer !== undefined && clock.now() - judgedAtMs <= HAS_WORK_MS,
  }
}
