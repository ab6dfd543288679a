import type { Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import type { MessageCodec } from '@backstop/kit/registry'
import { untilAvailable } from '@backstop/kit/retry'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import { complete, type DeliveryJob, isOwned } from '../jobs/delivery-job.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import type { ChannelQueues } from '../queue/channel-queues.ts'
import { postponedMessage } from './delivery-messages.ts'

export interface PostponerOptions {
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly metrics: Pick<DeliveryMetrics, 'postponed'>
  readonly active: Pick<ActiveDeliveries, 'store'>
  readonly queues: Pick<ChannelQueues, 'nextAttemptInMs'>
  /** Called for a job that waits on a delay line now. */
  onPostponed(job: DeliveryJob): void
  /** Called for a job whose partition was revoked before it was postponed. */
  onDropped(job: DeliveryJob): void
}

/** Moves queued deliveries to the delay lines without counting an attempt. */
export class Postponer {
  readonly #options: PostponerOptions

  constructor(options: PostponerOptions) {
    this.#options = options
  }

  /** @throws AppError `unavailable` if the database is unavailable, or the broker accepted none of the messages; the jobs are unchanged */
  async postpone(jobs: readonly DeliveryJob[]): Promise<void> {
    const { producer, codec, clock, metrics, active, queues, onPostponed } = this.#options
    await active.store(jobs.map(({ request }) => request.delivery_id))
    const nowMs = clock.now()
    await producer.send(
      jobs.map(({ request, messages }) =>
        postponedMessage(
          codec,
          request,
          messages[0]?.message.headers ?? {},
          nowMs,
          queues.nextAttemptInMs(request.channel_id),
        ),
      ),
    )
    for (const job of jobs) {
      metrics.postponed(job.channelKind)
      onPostponed(job)
      complete(job.messages)
    }
  }

  /** Like `postpone`, but retries until the broker is available. */
  async postponeWhenAvailable(jobs: readonly DeliveryJob[]): Promise<void> {
    const postponeOwned = async () => {
      const owned = jobs.filter(isOwned)
      for (const job of jobs) if (!isOwned(job)) this.#options.onDropped(job)
      if (owned.length > 0) await this.postpone(owned)
    }
    await untilAvailable(postponeOwned, { clock: this.#options.clock })
  }
}
