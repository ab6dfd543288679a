import type { ChannelDocument, ChannelTestResult } from '@backstop/channels'
import { type DeliveryDocument, type DeliveryRequest, HEADERS, isoTime } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { MessageCodec } from '@backstop/kit/registry'
import type { ReadCollection } from '../store/collection.ts'
import type { OutcomeWatcher } from './command-sender.ts'

/** Tests alert channels. */
export interface ChannelTester {
  /**
   * Sends a test alert through the channel on the same path as every delivery, and waits for the outcome.
   * @param ids ids of the delivery and the alert; a repeat with the same ids requests the same delivery
   * @param signal ends the wait
   * @throws AppError `unavailable` if the request could not be published, or the process stops
   */
  test(
    channel: ChannelDocument,
    ids: { delivery: string; alert: string },
    signal: AbortSignal,
  ): Promise<ChannelTestResult>
}

/** The services that channel tests use. */
export interface ChannelTesterOptions {
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly deliveries: ReadCollection<DeliveryDocument>
  readonly outcomes: OutcomeWatcher
  readonly clock: Clock
}

/** Slightly longer than the timeout of the single attempt, in milliseconds. */
const WAIT_MS = 25_000

/** Creates the tester: it publishes to the topic `deliveries` and polls the notifier's record of the delivery. */
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
      const result = await outcomes.waitFor(look, WAIT_MS, signal)
      if (result !== undefined) return result
      // Either the caller disconnected and gets no answer, or this process stops and the caller can ask another replica.
      if (signal.aborted) {
        throw new AppError('unavailable', 'The process is stopping; send the test again', { retryable: true })
      }
      return notAttempted(`No result within ${WAIT_MS / 1_000} s; check that the notifier is running`)
    },
  }
}

/** The result of a test is its only attempt. A test that ended without an attempt has a reason instead. */
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
