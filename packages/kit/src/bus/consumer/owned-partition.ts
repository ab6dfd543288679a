import type { TopicName } from '@backstop/contracts'
import { OffsetTracker } from './offset-tracker.ts'

/** A partition that is assigned to this process. */
export class OwnedPartition {
  readonly topic: TopicName
  /** The topic's name at the broker, with its prefix. */
  readonly brokerTopic: string
  readonly partition: number
  readonly tracker = new OffsetTracker()
  /** True while the handler works on a batch of the partition. */
  busy = false
  /** Number of faults of the handler since its last success. */
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

  /** Creates a new signal for the messages handed out from now on, after an interruption that kept the partition. */
  renewSignal(): void {
    if (this.#controller.signal.aborted) this.#controller = new AbortController()
  }

  /** Calls `resume` once after `ms`, unless the pause ends earlier for another reason. */
  resumeAfter(ms: number, resume: () => void): void {
    this.endPause()
    this.#resumeTimer = setTimeout(resume, ms)
  }

  /** Cancels the scheduled resume, because a rebalance resumed or revoked the partition. */
  endPause(): void {
    clearTimeout(this.#resumeTimer)
    this.#resumeTimer = undefined
  }
}
