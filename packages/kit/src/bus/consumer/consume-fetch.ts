import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import type { Logger } from '../../logger.ts'
import type { ConsumerOptions, IncomingMessage } from '../bus.ts'
import { incomingMessage } from './incoming-message.ts'
import type { OwnedPartition } from './owned-partition.ts'

const DEFAULT_BATCH_MESSAGES = 500
/**
 * Pause before a batch is delivered again if the handler accepted no message and requested no pause, in milliseconds.
 */
const SHORTEST_PAUSE_MS = 50
/** First and longest pause after an exception of the handler, in milliseconds. The pause doubles each time. */
const FAULT_PAUSE_MS = [500, 30_000] as const

/** The session's state and callbacks for one fetched batch. */
interface SliceContext {
  readonly options: Pick<ConsumerOptions, 'maxBatchMessages' | 'onBatch' | 'commit'> & { readonly logger: Logger }
  /** True if the handler may get more messages. */
  mayGoOn(): boolean
  /** True if kafkajs's position may still be moved: only during the assignment in which the batch was fetched. */
  mayResolve(): boolean
  /** Called when a batch was handled. */
  handled(): void
  /** Called when a handed-off message was completed or abandoned. */
  completed(): void
  heartbeat(): Promise<void>
}

export interface FetchOutcome {
  readonly resumeAfterMs?: number
}

/** Passes a fetched batch to the handler in slices, until all messages are handled or the handler requests a pause. */
export async function consumeFetch(
  owned: OwnedPartition,
  payload: EachBatchPayload,
  around: SliceContext,
): Promise<FetchOutcome> {
  const { messages } = payload.batch
  const size = around.options.maxBatchMessages ?? DEFAULT_BATCH_MESSAGES
  let next = owned.tracker.countSeen(messages.map(({ offset }) => BigInt(offset)))
  if (next > 0) payload.resolveOffset(messages[next - 1]!.offset)
  while (next < messages.length && around.mayGoOn()) {
    const slice = messages.slice(next, next + size)
    const { accepted, resumeAfterMs } = await handleSlice(owned, slice, around)
    if (!around.mayResolve()) return {}
    if (accepted > 0) payload.resolveOffset(slice[accepted - 1]!.offset)
    next += accepted
    if (resumeAfterMs !== undefined) return { resumeAfterMs: Math.max(0, resumeAfterMs) }
    if (accepted < slice.length) return { resumeAfterMs: SHORTEST_PAUSE_MS }
  }
  return {}
}

async function handleSlice(
  owned: OwnedPartition,
  slice: readonly KafkaMessage[],
  around: SliceContext,
): Promise<{ accepted: number; resumeAfterMs?: number }> {
  const { options } = around
  const { tracker } = owned
  const messages = slice.map(message => incomingMessage(owned.topic, owned.partition, message))
  const offsets = messages.map(({ offset }) => offset)
  tracker.trackHandedOut(offsets)
  let accepted = 0
  try {
    const progress = await options.onBatch({
      topic: owned.topic,
      partition: owned.partition,
      messages,
      signal: owned.signal,
      heartbeat: around.heartbeat,
      complete: ({ offset }: IncomingMessage) => {
        tracker.complete(offset)
        around.completed()
      },
      abandon: ({ offset }: IncomingMessage) => {
        tracker.abandon(offset)
        around.completed()
      },
    })
    owned.faults = 0
    accepted = Math.min(Math.max(0, progress.accepted), messages.length)
    return { ...progress, accepted }
  } catch (error) {
    const [first, longest] = FAULT_PAUSE_MS
    const resumeAfterMs = Math.min(first * 2 ** owned.faults, longest)
    owned.faults += 1
    const { topic, partition } = owned
    options.logger.error(
      { error, topic, partition, offset: offsets[0], resume_after_ms: resumeAfterMs },
      'consumer.fault',
    )
    return { accepted: 0, resumeAfterMs }
  } finally {
    if (accepted < offsets.length) tracker.withdraw(offsets.slice(accepted))
    if (options.commit === 'accepted') for (const offset of offsets.slice(0, accepted)) tracker.complete(offset)
    around.handled()
  }
}
