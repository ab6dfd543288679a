import type { DeliveryDocument, DeliveryRequest } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import type { Recovery } from '../health/rules/channel-health.ts'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import type { ChannelQueues } from '../queue/channel-queues.ts'
import { delayedMessage } from './delivery-messages.ts'
import { releaseWindow } from './rules/release-window.ts'

export interface RecoveryReleaserOptions {
  readonly deliveries: Pick<DeliveryStore, 'findWaiting' | 'findDigest'>
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly active: Pick<ActiveDeliveries, 'has'>
  readonly queues: Pick<ChannelQueues, 'heldForMs' | 'hasOnlyPartOf'>
}

/** Number of deliveries that are requested at once, so that the queue of the channel does not overflow. */
const PAGE = 40
/** The next page follows when this many deliveries of the page before are left. */
const LEFT_FOR_NEXT_PAGE = 10
const LOOK_EVERY_MS = 20
/** Without progress for this time, in milliseconds, the release ends. The delay lines release the rest. */
const PATIENCE_MS = 10_000
/** Number of remembered channels beyond which all are evicted, to limit memory. */
const MAX_KNOWN = 20_000

/**
 * Requests an attempt of the deliveries that wait on delay lines for a channel that works again, oldest first and as
 * fast as the channel accepts them. The message on the delay line stays, so a crash loses nothing; when it arrives, the
 * recorded progress of the delivery shows that the attempt was made.
 */
export class RecoveryReleaser {
  readonly #options: RecoveryReleaserOptions
  /** The requested deliveries that have not ended, by channel. */
  readonly #running = new Map<string, Set<string>>()
  /** When retries that were planned for later were last brought forward, by channel. */
  readonly #releasedAllAtMs = new Map<string, number>()
  readonly #releases = new Set<Promise<void>>()
  readonly #stopped = new AbortController()

  constructor(options: RecoveryReleaserOptions) {
    this.#options = options
  }

  /** Releases in the background. A release that runs already covers the channel. */
  release(recovery: Recovery): void {
    const { channelId } = recovery
    if (this.#running.has(channelId) || this.#stopped.signal.aborted) return
    this.#running.set(channelId, new Set())
    const { logger } = this.#options
    const released = this.#releaseAll(recovery).then(
      released => logger.info({ channel_id: channelId, released }, 'channel.recovered'),
      error => logger.warn({ channel_id: channelId, error }, 'channel.release_ended'),
    )
    this.#track(released.finally(() => this.#running.delete(channelId)))
  }

  /**
   * Requests in the background the deliveries of failed digests that wait on delay lines, if a part of the digest is queued.
   * @param digests the channels of the digests, by id of the digest
   */
  completeDigests(digests: ReadonlyMap<string, string>): void {
    const { queues, logger } = this.#options
    for (const [digest, channel_id] of digests) {
      if (this.#stopped.signal.aborted || !queues.hasOnlyPartOf(channel_id, digest)) continue
      const requested = this.#requestDigest(digest)
      this.#track(requested.catch(error => logger.warn({ channel_id, digest, error }, 'digest.not_completed')))
    }
  }

  /** Call it for each delivery whose attempt has ended, or that was postponed. */
  forget(channelId: string, deliveryId: string): void {
    if (this.#running.size > 0) this.#running.get(channelId)?.delete(deliveryId)
  }

  /** Ends running releases. The delay lines release the rest. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await Promise.all(this.#releases)
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.then(() => void this.#releases.delete(tracked))
    this.#releases.add(tracked)
  }

  async #requestDigest(digestId: string): Promise<void> {
    const { deliveries, active } = this.#options
    const found = await deliveries.findDigest(digestId)
    await this.#request(found.filter(one => !active.has(one._id)))
  }

  async #request(wanted: readonly DeliveryDocument[]): Promise<void> {
    const { producer, codec, clock } = this.#options
    const due = { topic: 'deliveries', atMs: clock.now() }
    if (wanted.length > 0) await producer.send(wanted.map(one => delayedMessage(codec, requestOf(one), {}, due)))
  }

  async #releaseAll(recovery: Recovery): Promise<number> {
    const { deliveries, clock, active } = this.#options
    const { channelId } = recovery
    const { kind, ...window } = releaseWindow(recovery, this.#releasedAllAtMs.get(channelId), clock.now())
    if (kind === 'all') this.#rememberReleaseOfAll(channelId)
    let after: DeliveryDocument | null = null
    let released = 0
    for (;;) {
      const page: readonly DeliveryDocument[] = await deliveries.findWaiting({
        ...window,
        channelId,
        after,
        limit: PAGE,
      })
      const wanted = page.filter(one => !active.has(one._id))
      const pending = this.#running.get(channelId)
      for (const { _id } of wanted) pending?.add(_id)
      await this.#request(wanted)
      released += wanted.length
      after = page.at(-1) ?? null
      if (page.length < PAGE || !(await this.#canContinue(channelId))) return released
    }
  }

  #rememberReleaseOfAll(channelId: string): void {
    if (this.#releasedAllAtMs.size >= MAX_KNOWN) this.#releasedAllAtMs.clear()
    this.#releasedAllAtMs.set(channelId, this.#options.clock.now())
  }

  /** Waits until most requested deliveries have ended. @returns false if the release must end before all of them */
  async #canContinue(channelId: string): Promise<boolean> {
    const { clock, queues } = this.#options
    const { signal } = this.#stopped
    const pending = this.#running.get(channelId) as Set<string>
    let left = pending.size
    for (let untilMs = clock.now() + PATIENCE_MS; left > LEFT_FOR_NEXT_PAGE; ) {
      await sleep(clock, LOOK_EVERY_MS, signal)
      if (signal.aborted || queues.heldForMs(channelId) > 0 || clock.now() > untilMs) return false
      if (pending.size < left) untilMs = clock.now() + PATIENCE_MS
      left = pending.size
    }
    return !signal.aborted
  }
}

function requestOf({ _id, channel_id, project_id, next_attempt, alert }: DeliveryDocument): DeliveryRequest {
  return { delivery_id: _id, channel_id, project_id, attempt: next_attempt?.attempt ?? 1, test: false, alert }
}
