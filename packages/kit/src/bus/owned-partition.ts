import type { TopicName } from '@backstop/contracts'
import { OffsetTracker } from './offset-tracker.ts'

/** One partition while this process owns it. */
export class OwnedPartition {
  readonly topic: TopicName
  /** The topic's name at the broker, with its prefix. */
  readonly brokerTopic: string
  readonly partition: number
  readonly tracker = new OffsetTracker()
  /** Whether a batch of it is with the handler. */
  busy = false
  /** Faults of the handler since it last succeeded. */
  faults = 0
  #controller = new AbortController()
  #resumeTimer: NodeJS.Timeout | undefined

  constructor(topic: TopicName, brokerTopic: string, partition: number) {
    this.topic = topic
    this.brokerTopic = brokerTopic
    this.partition = partition
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Asks the handler to stop working on this partition's messages. */
  interrupt(): void {
    this.#controller.abort()
  }

  /** After an interruption that kept the partition: a new signal for messages handed out from now on. */
  renewSignal(): void {
    if (this.#controller.signal.aborted) this.#controller = new AbortController()
  }

  /** Calls `resume` once after `ms`, unless the pause ends before by other means. */
  resumeAfter(ms: number, resume: () => void): void {
    this.endPause()
    this.#resumeTimer = setTimeout(resume, ms)
  }

  /** Forgets the pending resume: the partition was resumed by a rebalance, or is gone. */
  endPause(): void {
    clearTimeout(this.#resumeTimer)
    this.#resumeTimer = undefined
  }
}
