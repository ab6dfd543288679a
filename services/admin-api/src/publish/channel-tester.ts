import {
  type ChannelDocument,
  type ChannelTestResult,
  type DeliveryDocument,
  type DeliveryRequest,
  HEADERS,
} from '@backstop/contracts'
import { AppError, type Clock, type MessageCodec, type Producer, sleep } from '@backstop/kit'
import type { ReadShelf } from '../store/shelf.ts'

export interface ChannelTester {
  /**
   * Sends a test alert through the channel on the path of every other delivery, and waits for what became of it.
   * @param ids of the delivery and the alert, given so that a repeat asks for the same delivery
   * @param signal aborted when nobody is to wait any longer
   * @throws AppError `unavailable` when it could not be handed on, or is no longer waited for
   */
  test(
    channel: ChannelDocument,
    ids: { delivery: string; alert: string },
    signal: AbortSignal,
  ): Promise<ChannelTestResult>
}

export interface ChannelTesterOptions {
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly deliveries: ReadShelf<DeliveryDocument>
  readonly clock: Clock
  /** How long a result is waited for, in milliseconds: a little more than the one attempt may take. */
  readonly waitMs?: number
}

const WAIT_MS = 25_000
/** How often it looks for the result: at first as quickly as a good receiver answers, then less often. */
const FIRST_LOOK_MS = 25
const SLOWEST_LOOK_MS = 500

/** The test button of a channel, over the topic `deliveries` and the notifier's record of what it did. */
export function createChannelTester(options: ChannelTesterOptions): ChannelTester {
  const { producer, codec, deliveries, clock } = options
  const waitMs = options.waitMs ?? WAIT_MS
  return {
    async test(channel, ids, signal) {
      const now = clock.now()
      const request: DeliveryRequest = {
        delivery_id: ids.delivery,
        channel_id: channel._id,
        project_id: channel.project_id,
        attempt: 1,
        test: true,
        alert: {
          alert_id: ids.alert,
          project_id: channel.project_id,
          created_at: new Date(now).toISOString(),
          event: 'channel.test',
          data: { channel_id: channel._id, text: `This is a test of the alert channel "${channel.name}"` },
        },
      }
      await producer.send([
        {
          topic: 'deliveries',
          key: channel._id,
          value: codec.encode('delivery-request', request),
          headers: { [HEADERS.messageId]: ids.delivery, [HEADERS.attempt]: '1' },
        },
      ])
      for (let pauseMs = FIRST_LOOK_MS; clock.now() < now + waitMs && !signal.aborted; ) {
        const delivery = await deliveries.find({ _id: ids.delivery })
        const result = delivery && resultOf(delivery)
        if (result !== undefined) return result
        await sleep(clock, pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, SLOWEST_LOOK_MS)
      }
      // The caller has gone, and hears nothing; or this process stops, and another one can be asked.
      if (signal.aborted) {
        throw new AppError('unavailable', 'This process is stopping; send the test again', { retryable: true })
      }
      return {
        delivered: false,
        status: null,
        latency_ms: null,
        error: `No result within ${waitMs / 1_000} s; see that the notifier is running`,
      }
    },
  }
}

/** A test has one attempt, so its first one is its result; one that ended without any says why. */
function resultOf(delivery: DeliveryDocument): ChannelTestResult | undefined {
  const [attempt] = delivery.attempts
  if (attempt === undefined) {
    if (delivery.state !== 'dead') return undefined
    return { delivered: false, status: null, latency_ms: null, error: delivery.reason }
  }
  return {
    delivered: attempt.outcome === 'delivered',
    status: attempt.status,
    latency_ms: Math.round(attempt.duration_ms),
    ...(attempt.error === null ? {} : { error: attempt.error }),
  }
}
