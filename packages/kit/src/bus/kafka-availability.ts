import type { Admin } from 'kafkajs'
import { monotonicClock, sleep } from '../clock/clock.ts'
import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import { describeKafkaError } from './kafka-errors.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs/client.ts'

/** Whether Kafka answers this process. */
export interface KafkaAvailability {
  /** Starts asking. */
  start(): void
  /** Why a process that needs Kafka is not ready; undefined if Kafka answers. */
  fault(): string | undefined
  stop(): Promise<void>
}

/** Pauses between two questions, in milliseconds: after an answer, and after a failure. */
const EVERY_MS = 10_000
const FAILED_EVERY_MS = 5_000
/** Time limit of one question, including the connection, in milliseconds. */
const ASK_MS = 8_000
const DISCONNECT_MS = 2_000
/**
 * Time without an answer after which Kafka counts as unavailable, in milliseconds. It is longer than the election of another leader. With
 * the pauses above, an outage is noticed after 35 s at most, and its end after 15 s.
 */
const UNAVAILABLE_MS = 15_000

/** Asks Kafka for the brokers of its cluster again and again. The question needs no right and no topic. */
export function createKafkaAvailability(connection: KafkaConnection, clock = monotonicClock): KafkaAvailability {
  const stopping = new AbortController()
  let admin: Admin | undefined
  let hasAnswered = false
  /** Since when there was no answer; undefined if the last question was answered. */
  let silentSinceMs: number | undefined = clock.now()

  async function ask(): Promise<void> {
    admin ??= createKafkajsClient(connection, { retries: 1, initialRetryTime: 50 }).admin()
    const asked = admin
    await asked.connect()
    await asked.describeCluster()
  }

  /** Drops a failed client, which may hang without end. The next question creates a new one. */
  async function discard(): Promise<void> {
    const unused = admin
    admin = undefined
    if (unused !== undefined) await waitUntilSettled(unused.disconnect(), DISCONNECT_MS)
  }

  async function askRepeatedly(): Promise<void> {
    while (!stopping.signal.aborted) {
      const askedAtMs = clock.now()
      try {
        await withDeadline(ask(), ASK_MS, () => new Error(`No answer within ${ASK_MS} ms`))
        if (hasAnswered && silentSinceMs !== undefined) connection.logger.info('kafka.answered')
        hasAnswered = true
        silentSinceMs = undefined
      } catch (error) {
        if (stopping.signal.aborted) return
        if (silentSinceMs === undefined) connection.logger.warn({ error: describeKafkaError(error) }, 'kafka.silent')
        silentSinceMs ??= askedAtMs
        await discard()
      }
      await sleep(clock, silentSinceMs === undefined ? EVERY_MS : FAILED_EVERY_MS, stopping.signal)
    }
  }

  return {
    start: () => void askRepeatedly(),
    fault() {
      if (silentSinceMs === undefined) return undefined
      const silentMs = clock.now() - silentSinceMs
      // No election explains a Kafka that this process never reached. A rollout must not count such a process as ready.
      if (hasAnswered && silentMs < UNAVAILABLE_MS) return undefined
      return `Kafka has not answered for ${Math.floor(silentMs / 1_000)} s: check the brokers and KAFKA_BROKERS`
    },
    async stop() {
      stopping.abort()
      await discard()
    },
  }
}
