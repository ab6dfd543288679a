import { DELAY_LINES, type DelayLineName, dueAtOf } from '@backstop/contracts'
import type { Batch, BatchProgress, Bus, Consumer, IncomingMessage, Producer } from '../bus/bus.ts'
import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from '../clock/clock.ts'
import type { Logger } from '../logger.ts'
import { pauseMsAfterFailures } from '../retry/backoff.ts'
import { HeldMessages, MAX_FETCH_BYTES } from './held-messages.ts'

export interface DelayLineOptions {
  readonly bus: Bus
  /** Sends due messages. The caller starts and stops it. */
  readonly producer: Producer
  readonly clock: Clock
  readonly logger: Logger
  readonly groupId: string
  /**
   * The delay topic. Its messages have about the same delay, so that those of a partition are due in about their order.
   */
  readonly topic: DelayLineName
  /** The topic's delay in milliseconds. A later due time is invalid. */
  readonly maxDelayMs: number
  /** Called when the delay line cannot continue. The process should exit. */
  onFatal(error: unknown): void
}

/** A message that waits this long may come half a second late. */
const LONG_DELAY_MS = 10 * 60_000
/** `fetchWaitMs` of a line whose messages wait that long. It has a paused partition for hours. */
const LONG_DELAY_FETCH_MS = 1_000
/** Maximum number of messages in one send. */
const MAX_SEND = 500

/**
 * When a held message is sent. A message whose due time is missing or invalid is sent at once, so that it does not delay the messages behind
 * it. The broker's timestamp is not used, because due times come from another clock.
 */
function sendAtMs(message: IncomingMessage, maxDelayMs: number, nowMs: number): number {
  const dueAt = dueAtOf(message) ?? nowMs
  return dueAt <= nowMs + maxDelayMs + MAX_CLOCK_DIFFERENCE_MS ? dueAt : nowMs
}

/**
 * A delay line sends due messages unchanged to the topic that `DELAY_LINES` names. It holds the next messages of each partition in memory, and
 * their partition pauses. The due time is absolute, so a restart or a rebalance neither shortens nor restarts a delay. An offset is
 * committed when the target has the message.
 */
export function createDelayLine(options: DelayLineOptions): Consumer {
  return new DelayLine(options).consumer
}

class DelayLine {
  readonly #options: DelayLineOptions
  /** After its stop, messages that are not being sent are read again, by this process or another one. */
  readonly consumer: Consumer
  readonly #held = new HeldMessages()
  readonly #watched = new WeakSet<AbortSignal>()
  #cancelTimer = () => {}
  #isSending = false
  #failures = 0
  #retryAtMs = Number.NEGATIVE_INFINITY

  constructor(options: DelayLineOptions) {
    this.#options = options
    this.consumer = options.bus.consumer({
      groupId: options.groupId,
      topics: [options.topic],
      commit: 'completed',
      maxFetchBytes: MAX_FETCH_BYTES,
      ...(options.maxDelayMs >= LONG_DELAY_MS ? { fetchWaitMs: LONG_DELAY_FETCH_MS } : {}),
      onFatal: options.onFatal,
      onBatch: async batch => this.#hold(batch),
    })
  }

  #hold(batch: Batch): BatchProgress {
    const { messages, partition, signal } = batch
    const { clock, maxDelayMs } = this.#options
    const nowMs = clock.now()
    const held = messages.map(message => ({
      message,
      batch,
      dueAtMs: sendAtMs(message, maxDelayMs, nowMs),
    }))
    this.#held.add(partition, held)
    if (!this.#watched.has(signal)) {
      this.#watched.add(signal)
      signal.addEventListener('abort', () => this.#dropLost(), { once: true })
    }
    this.#schedule()
    const pauseMs = this.#held.pauseMs(partition, nowMs)
    return { accepted: messages.length, ...(pauseMs === undefined ? {} : { resumeAfterMs: pauseMs }) }
  }

  /** Sends the due messages, or waits for the next ones. */
  #schedule(): void {
    if (this.#isSending) return
    this.#cancelTimer()
    const { clock, onFatal } = this.#options
    const nextMs = this.#held.nextSendAtMs()
    if (nextMs === undefined) return
    const send = () => void this.#sendDue().catch(onFatal)
    const waitMs = Math.max(nextMs, this.#retryAtMs) - clock.now()
    if (waitMs <= 0) send()
    else this.#cancelTimer = clock.schedule(waitMs, send)
  }

  async #sendDue(): Promise<void> {
    const { producer, topic, clock, logger } = this.#options
    // After a failure the partitions are sent one by one, so that a message that is refused stops its own partition only.
    const due = this.#held.takeDue(clock.now(), { most: MAX_SEND, isOnePartition: this.#failures > 0 })
    this.#isSending = true
    try {
      if (due.length > 0) await producer.send(due.map(({ message }) => toTargetMessage(message, topic)))
      this.#failures = 0
      for (const { batch, message } of due) batch.complete(message)
    } catch (error) {
      this.#failures++
      const pauseMs = pauseMsAfterFailures(this.#failures)
      this.#retryAtMs = clock.now() + pauseMs
      logger.warn({ topic, due: due.length, resume_after_ms: pauseMs, error }, 'delay.deferred')
      this.#held.putBack(due)
    }
    this.#isSending = false
    this.#dropLost()
    this.#schedule()
  }

  /** The next owner of a revoked partition sends its messages. */
  #dropLost(): void {
    for (const { batch, message } of this.#held.takeLost()) batch.abandon(message)
  }
}

function toTargetMessage({ key, value, headers }: IncomingMessage, line: DelayLineName) {
  return { topic: DELAY_LINES[line], key, value, headers }
}
