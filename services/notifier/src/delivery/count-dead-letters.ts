import { HEADERS } from '@backstop/contracts'
import type { OutgoingMessage } from '@backstop/kit/bus'
import type { ConsumerMetrics } from '@backstop/kit/consume'

/** Counts the dead letters among messages that Kafka has acknowledged. Called earlier, it would count each retry of a send. */
export function countDeadLetters(sent: readonly OutgoingMessage[], metrics: ConsumerMetrics): void {
  for (const { topic, headers } of sent) {
    if (topic === 'deliveries.dead') metrics.deadLettered('deliveries', headers[HEADERS.errorCode] ?? 'internal')
  }
}
