import { HEADERS, type TopicName } from '@backstop/contracts'
import type { Batch, Bus, IncomingMessage, Producer } from '../bus/bus.ts'
import type { Clock } from '../clock/clock.ts'
import type { WorkLoop } from '../consume/work-loop.ts'
import { crashPoint } from '../crash-points.ts'
import type { Logger } from '../logger.ts'
import { PartitionPauses } from '../retry/partition-pauses.ts'

export interface DelayLineOptions {
  readonly bus: Bus
  /** Sends due messages to the target. The caller starts and stops it. */
  readonly producer: Producer
  readonly clock: Clock
  readonly logger: Logger
  readonly groupId: string
  /**
   * The delay topic. All its messages have the same delay, so that the first message of a partition is always due
   * first.
   */
  readonly topic: TopicName
  /** The topic to which due messages are sent. */
  readonly target: TopicName
  /** The topic's delay in milliseconds. A later due time is invalid. */
  readonly maxDelayMs: number
  /** Called when the delay line cannot continue. The process should exit. */
  onFatal(error: unknown): void
}

/** Allowed difference between the clocks of this process and the process that set the due time, in milliseconds. */
const CLOCK_SLACK_MS = 300_000

/** A small fetch limit, because messages that are not due are fetched again with every due message. */
const MAX_FETCH_BYTES = 16_384

/** Messages that become due within this time, in milliseconds, are sent together, because each wake fetches the partition again. */
const TOGETHER_MS = 100

/**
 * The due time of a message in milliseconds since the epoch; undefined if the header is missing or invalid. Such a
 * message is due at once, so that it does not delay the messages behind it. The broker's timestamp is not used, because
 * due times come from another clock.
 */
function dueAtOf(message: IncomingMessage, maxDelayMs: number, nowMs: number): number | undefined {
  const text = message.headers[HEADERS.dueAt]
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined
  const dueAt = Number(text)
  return dueAt <= nowMs + maxDelayMs + CLOCK_SLACK_MS ? dueAt : undefined
}

/**
 * A delay line sends due messages unchanged to the target topic. If the first message of a partition is not due, the
 * partition pauses. The due time is absolute, so a restart or a rebalance neither shortens nor restarts a delay.
 */
export function createDelayLine(options: DelayLineOptions): WorkLoop {
  const pauses = new PartitionPauses()
  const consumer = options.bus.consumer({
    groupId: options.groupId,
    topics: [options.topic],
    commit: 'accepted',
    maxFetchBytes: MAX_FETCH_BYTES,
    onFatal: options.onFatal,
    async onBatch(batch) {
      const { due, nextInMs } = splitByDue(batch, options)
      try {
        if (due.length > 0) await options.producer.send(due.map(message => toTargetMessage(message, options.target)))
      } catch (error) {
        const resumeAfterMs = pauses.failed(batch)
        const { topic, partition } = batch
        options.logger.warn(
          { topic, partition, due: due.length, resume_after_ms: resumeAfterMs, error },
          'delay.deferred',
        )
        return { accepted: 0, resumeAfterMs }
      }
      if (due.length > 0) crashPoint('delay.produced')
      pauses.succeeded(batch)
      return nextInMs === undefined ? { accepted: due.length } : { accepted: due.length, resumeAfterMs: nextInMs }
    },
  })
  return {
    start: () => consumer.start(),
    stop: () => consumer.stop(),
    msSinceProgress: () => consumer.msSinceProgress(),
  }
}

/**
 * Splits messages into the leading due messages and the rest, with the time until the next ones are due, in milliseconds.
 */
function splitByDue(
  batch: Batch,
  { clock, maxDelayMs }: DelayLineOptions,
): { due: readonly IncomingMessage[]; nextInMs: number | undefined } {
  const now = clock.now()
  const dueAts = batch.messages.map(message => dueAtOf(message, maxDelayMs, now) ?? now)
  const next = dueAts.findIndex(dueAt => dueAt > now)
  if (next === -1) return { due: batch.messages, nextInMs: undefined }
  const together = (dueAts[next] as number) + TOGETHER_MS
  const end = dueAts.findIndex((dueAt, index) => index > next && dueAt > together)
  const wakeAt = Math.max(...dueAts.slice(next, end === -1 ? undefined : end))
  return { due: batch.messages.slice(0, next), nextInMs: wakeAt - now }
}

function toTargetMessage({ key, value, headers }: IncomingMessage, target: TopicName) {
  return { topic: target, key, value, headers }
}
