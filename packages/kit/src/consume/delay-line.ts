import { HEADERS, type TopicName } from '@backstop/contracts'
import type { Batch, Bus, IncomingMessage, Producer } from '../bus/bus.ts'
import type { Clock } from '../clock/clock.ts'
import { crashPoint } from '../crash-points.ts'
import type { Logger } from '../logger.ts'
import { PartitionPauses } from '../retry/partition-pauses.ts'
import type { WorkLoop } from './work-loop.ts'

export interface DelayLineOptions {
  readonly bus: Bus
  /** Carries what is due to its target; started and stopped by its owner. */
  readonly producer: Producer
  readonly clock: Clock
  readonly logger: Logger
  readonly groupId: string
  /** The delay topic: all its messages have the same delay, so that the head is always due first. */
  readonly topic: TopicName
  /** Where a message goes when it is due. */
  readonly target: TopicName
  /** The topic's delay in milliseconds: a due time further away than that is no due time. */
  readonly maxDelayMs: number
  /** Called when the line cannot go on; the process is to exit. */
  onFatal(error: unknown): void
}

/** By how much the clocks of this process and of the one that stamped the due time may differ, in milliseconds. */
const CLOCK_SLACK_MS = 300_000

/** What is not due is fetched again with every message that is: many may wait, so few of them are fetched. */
const MAX_FETCH_BYTES = 65_536

/**
 * When a message is due, in milliseconds since the epoch; undefined when its header is absent or cannot be right, which
 * makes it due at once: a bad header must not hold up what stands behind it. The broker's time plays no part: its clock is
 * not the one that due times are stamped by.
 */
function dueAtOf(message: IncomingMessage, maxDelayMs: number, nowMs: number): number | undefined {
  const text = message.headers[HEADERS.dueAt]
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined
  const dueAt = Number(text)
  return dueAt <= nowMs + maxDelayMs + CLOCK_SLACK_MS ? dueAt : undefined
}

/**
 * A pure delay line: what is due is produced again, unchanged, to where the work is done. A head that is not due pauses
 * its partition; the due time is absolute, so a restart or a rebalance neither shortens nor resets a delay.
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
        if (due.length > 0) await options.producer.send(due.map(message => moved(message, options.target)))
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

/** The leading messages that are due, and in how many milliseconds the one behind them is. */
function splitByDue(
  batch: Batch,
  { clock, maxDelayMs }: DelayLineOptions,
): { due: readonly IncomingMessage[]; nextInMs: number | undefined } {
  const now = clock.now()
  for (const [index, message] of batch.messages.entries()) {
    const dueAt = dueAtOf(message, maxDelayMs, now)
    if (dueAt !== undefined && dueAt > now) return { due: batch.messages.slice(0, index), nextInMs: dueAt - now }
  }
  return { due: batch.messages, nextInMs: undefined }
}

function moved({ key, value, headers }: IncomingMessage, target: TopicName) {
  return { topic: target, key, value, headers }
}
