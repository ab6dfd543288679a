import type { ChannelDocument, ChannelTestResult } from '@backstop/channels'
import { type DeliveryDocument, type DeliveryRequest, HEADERS, isoTime } from '@backstop/contracts'
import { AppError, type Clock, type MessageCodec, type Producer } from '@backstop/kit'
import type { ReadShelf } from '../store/shelf.ts'
import type { OutcomeWatcher } from './outcome-watcher.ts'

/** Tests alert channels. */
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

/** The parts that channel tests work with. */
export interface ChannelTesterOptions {
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly deliveries: ReadShelf<DeliveryDocument>
  readonly outcomes: OutcomeWatcher
  readonly clock: Clock
}

/** A little more than the one attempt may take. */
const WAIT_MS = 25_000

/** The test button of a channel, over the topic `deliveries` and the notifier's record of what it did. */
export function createChannelTester({
  producer,
  codec,
  deliveries,
  outcomes,
  clock,
}: ChannelTesterOptions): ChannelTester {
  return {
    async test(channel, ids, signal) {
      const request: DeliveryRequest = {
        delivery_id: ids.delivery,
        channel_id: channel._id,
        project_id: channel.project_id,
        attempt: 1,
        test: true,
        alert: {
          alert_id: ids.alert,
          project_id: channel.project_id,
          created_at: isoTime(clock.now()),
          event: 'channel.test',
          data: { channel_id: channel._id, text: `This is a test of the alert channel "${channel.name}"` },
        },
      }
      await producer.send([
        {
          topic: 'deliveries',
          key: channel._id,
          value: codec.encode('delivery-request', request),
          headers: { [HEADERS.messageId]: ids.delivery, [HEADERS.deliveryId]: ids.delivery, [HEADERS.attempt]: '1' },
        },
      ])
      const look = async () => resultOf(await deliveries.find({ _id: ids.delivery }))
      const result = await outcomes.watch(look, WAIT_MS, signal)
      if (result !== undefined) return result
      // The caller has gone, and hears nothing; or this process stops, and another one can be asked.
      if (signal.aborted) {
        throw new AppError('unavailable', 'The process is stopping; send the test again', { retryable: true })
      }
      return notAttempted(`No result within ${WAIT_MS / 1_000} s; check that the notifier is running`)
    },
  }
}

/** A test has one attempt, so its first one is its result; one that ended without any says why. */
function resultOf(delivery: DeliveryDocument | undefined): ChannelTestResult | undefined {
  const attempt = delivery?.attempts[0]
  if (attempt === undefined) return delivery?.state === 'dead' ? notAttempted(delivery.reason) : undefined
  return {
    delivered: attempt.outcome === 'delivered',
    status: attempt.status,
    latency_ms: Math.round(attempt.duration_ms),
    ...(attempt.error === null ? {} : { error: attempt.error }),
    response: attempt.response,
  }
}

function notAttempted(error: string): ChannelTestResult {
  return { delivered: false, status: null, latency_ms: null, error, response: null }
}
