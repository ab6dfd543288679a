import { type Clock, crashPoint, type MessageCodec, type Producer, untilAvailable } from '@backstop/kit'
import type { DeliveryMetrics } from '../metrics.ts'
import { complete, type DeliveryJob, isOwned } from '../queue/delivery-job.ts'
import { postponedMessage } from './delivery-messages.ts'

export interface PostponerOptions {
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly metrics: Pick<DeliveryMetrics, 'postponed'>
  /** In how long the turn of a message may come that is put off now, in milliseconds. */
  nextTurnInMs(channelId: string): number
  /** Called for a job that waits on a delay line now. */
  onPostponed(job: DeliveryJob): void
  /** Called for a job whose partition went elsewhere before it was put off. */
  onDropped(job: DeliveryJob): void
}

/** Moves deliveries that were taken in already to the delay lines, with no attempt counted. */
export class Postponer {
  readonly #options: PostponerOptions

  constructor(options: PostponerOptions) {
    this.#options = options
  }

  /** @throws AppError `unavailable` when the broker did not take them; nothing has changed for them */
  async postpone(jobs: readonly DeliveryJob[]): Promise<void> {
    const { producer, codec, clock, metrics, nextTurnInMs, onPostponed } = this.#options
    const nowMs = clock.now()
    await producer.send(
      jobs.map(({ request, messages }) =>
        postponedMessage(codec, request, messages[0]?.message.headers ?? {}, nowMs, nextTurnInMs(request.channel_id)),
      ),
    )
    crashPoint('notifier.after-postpone')
    for (const job of jobs) {
      metrics.postponed(job.channelKind)
      onPostponed(job)
      complete(job.messages)
    }
  }

  /** As `postpone`, as soon as the broker takes them. */
  async postponeWhenAvailable(jobs: readonly DeliveryJob[]): Promise<void> {
    const postponeOwned = async () => {
      const owned = jobs.filter(isOwned)
      for (const job of jobs) if (!isOwned(job)) this.#options.onDropped(job)
      if (owned.length > 0) await this.postpone(owned)
    }
    await untilAvailable(postponeOwned, { clock: this.#options.clock })
  }
}
