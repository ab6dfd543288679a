import type { ChannelKind, DeliveryRequest, EndedAddress } from '@backstop/contracts'
import type { Batch, IncomingMessage } from '@backstop/kit'

/** A message of `deliveries` with the batch that it belongs to. */
export interface JobMessage {
  readonly message: IncomingMessage
  readonly batch: Batch
}

/** One attempt to make. */
export interface DeliveryJob {
  readonly request: DeliveryRequest
  readonly channelKind: ChannelKind
  /** Jobs of one channel with the same key run one after the other: they are about the same incident. */
  readonly orderingKey: string
  /** When the first attempt of the delivery's ladder began; null when this is it. */
  readonly firstAttemptAtMs: number | null
  /** The number of that attempt. */
  readonly ladderFromAttempt: number
  /** Whether the delivery was on record before this message came: something may have happened to it meanwhile. */
  readonly isKnown: boolean
  /** Whether a person waits for it: a test, or a retry by hand. It passes by what waits and by a pause of its channel. */
  readonly atOnce: boolean
  /** The addresses of a mail channel that are not written to again; absent where there are none. */
  readonly endedAddresses?: readonly EndedAddress[]
  /** The place that its channel posts to (ChannelPace); absent where that takes any number of attempts. */
  readonly paceTarget?: string
  /** Whether it is told in no digest. */
  readonly goesAlone: boolean
  readonly receivedAtMs: number
  /** The message that asks for it, and any copies of it that came while it was at work: all are completed together. */
  readonly messages: JobMessage[]
}

/** The effect of these messages is durable: their offsets may be committed. */
export function complete(messages: readonly JobMessage[]): void {
  for (const { message, batch } of messages) batch.complete(message)
}

/** Nobody here works on these messages any more; they come again, here or elsewhere. */
export function abandon(messages: readonly JobMessage[]): void {
  for (const { message, batch } of messages) batch.abandon(message)
}

/** Whether the partition of this job still belongs to this process. */
export function isOwned(job: DeliveryJob): boolean {
  return job.messages.some(({ batch }) => !batch.signal.aborted)
}

/** Aborted when a partition of these jobs goes elsewhere; of those, one that this process still owns if there is any. */
export function ownedSignal(jobs: readonly DeliveryJob[]): AbortSignal | undefined {
  for (const { messages } of jobs) {
    for (const { batch } of messages) if (!batch.signal.aborted) return batch.signal
  }
  return jobs[0]?.messages[0]?.batch.signal
}
