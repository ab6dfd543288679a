/** Decides whether the queue for Kafka can take one more message, by the time that it would wait. */

export interface QueueState {
  /** Messages and bytes that wait for a send. */
  readonly messages: number
  readonly bytes: number
  /** How long the last sends took, in milliseconds. */
  readonly recentSendsMs: readonly number[]
}

export interface QueueLimits {
  /** A batch is sent at once when it has this many messages or bytes. */
  readonly batchMessages: number
  readonly batchBytes: number
  /** Limit for sends in flight per topic, so that a slow topic does not delay others. */
  readonly sendsInFlight: number
  /** How long a message may wait for its send, in milliseconds. */
  readonly maxWaitMs: number
}

export type QueueJudgement =
  | { readonly kind: 'bearable' }
  | { readonly kind: 'overloaded'; readonly reason: 'queue_wait' }

/** Number of sends by which the next ones are predicted. */
export const RECENT_SENDS = 8

/**
 * Each full batch in the queue goes before the new message. A queue that fits into the next send is never too long, however slow Kafka is.
 * The shortest of the last sends counts, because one slow send, such as a change of leader, predicts nothing about the next ones.
 */
export function judgeQueue({ messages, bytes, recentSendsMs }: QueueState, limits: QueueLimits): QueueJudgement {
  const batches = Math.floor(Math.max(messages / limits.batchMessages, bytes / limits.batchBytes))
  if (batches === 0 || recentSendsMs.length === 0) return { kind: 'bearable' }
  const waitMs = (batches * Math.min(...recentSendsMs)) / limits.sendsInFlight
  return waitMs > limits.maxWaitMs ? { kind: 'overloaded', reason: 'queue_wait' } : { kind: 'bearable' }
}
