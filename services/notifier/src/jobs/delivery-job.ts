import {
  type ChannelKind,
  type DeliveryDocument,
  type DeliveryRequest,
  deterministicId,
  type EndedAddress,
} from '@backstop/contracts'
import type { Batch, IncomingMessage } from '@backstop/kit/bus'
import { newDelivery } from '../delivery-record/delivery-store.ts'

/** A message of `deliveries` with the batch that it belongs to. */
export interface JobMessage {
  readonly message: IncomingMessage
  readonly batch: Batch
}

/** One attempt to make. */
export interface DeliveryJob {
  readonly request: DeliveryRequest
  readonly channelKind: ChannelKind
  /** Jobs of one channel with the same key run one after the other, because they are about the same incident. */
  readonly orderingKey: string
  /** When the first attempt of the delivery's ladder began; null if this attempt is the first. */
  readonly firstAttemptAtMs: number | null
  /** When the attempts before it on its ladder began, in their order. */
  readonly ladderAttemptsAtMs: readonly number[]
  /** True if the delivery was stored before this message arrived, so another process may have changed it. */
  readonly isKnown: boolean
  /**
   * True if a person waits for the attempt (a test, or a manual retry). The job skips the queue and ignores a pause of
   * its channel.
   */
  readonly atOnce: boolean
  /**
   * True if quiet hours held the delivery, or if a person or a replay requested it again. The time until its delivery says nothing
   * about Backstop.
   */
  readonly isLateOnPurpose: boolean
  /** The addresses of a mail channel that get no further mail; absent if there are none. */
  readonly endedAddresses?: readonly EndedAddress[]
  /** The target of the channel's attempts (`ChannelPace`); absent if its kind has no pace limit. */
  readonly paceTarget?: string
  /** True if the delivery must not be part of a digest. */
  readonly goesAlone: boolean
  /** Waiting jobs with the same group are sent as one digest, however few they are; null if there is none. */
  readonly digestGroup: string | null
  /** The job waits for the rest of its group, until this time at most. Absent means no wait. */
  readonly notBeforeMs?: number
  readonly receivedAtMs: number
  /** The message that requested the attempt, and duplicates that arrived since. All are completed together. */
  readonly messages: JobMessage[]
}

/** The pending document of the job's delivery. */
export function documentOf({ request, channelKind, receivedAtMs }: DeliveryJob): DeliveryDocument {
  return newDelivery(request, channelKind, receivedAtMs)
}

/** True if the delivery was never attempted. */
export function isFirstAttempt({ firstAttemptAtMs }: DeliveryJob): boolean {
  return firstAttemptAtMs === null
}

/** Marks messages whose result is durable: their offsets may be committed. */
export function complete(messages: readonly JobMessage[]): void {
  for (const { message, batch } of messages) batch.complete(message)
}

/** Marks messages that this process does not finish: Kafka delivers them again. */
export function abandon(messages: readonly JobMessage[]): void {
  for (const { message, batch } of messages) batch.abandon(message)
}

/** True if the partition of this job is still assigned to this process. */
export function isOwned(job: DeliveryJob): boolean {
  return job.messages.some(({ batch }) => !batch.signal.aborted)
}

/**
 * A signal that aborts when a partition of these jobs is revoked. Prefers a partition that is still assigned to this
 * process.
 */
export function ownedSignal(jobs: readonly DeliveryJob[]): AbortSignal | undefined {
  for (const { messages } of jobs) {
    for (const { batch } of messages) if (!batch.signal.aborted) return batch.signal
  }
  return jobs[0]?.messages[0]?.batch.signal
}

/**
 * The id of a digest, recorded on each of its deliveries. A repeat with the same deliveries has the same id, so a mail
 * program can drop it. A part of a digest has another id: otherwise a mail program would drop the other parts.
 */
export function digestIdOf(jobs: readonly DeliveryJob[]): string {
  return deterministicId('delivery', 'digest', ...jobs.map(({ request }) => request.delivery_id).sort())
}
