import type { OutboxPublisher, PendingOutbox } from '@backstop/kit'
import { AppError, type Clock, crashPoint, type Logger } from '@backstop/kit'
import {
  type DisableOrder,
  disableChannel,
  enableChannel,
  FAILING_TOO_LONG_MS,
  judgeHealth,
} from '../domain/channel-health.ts'
import type { ChannelNews, HealthStore } from '../store/health-store.ts'
import type { ChannelDirectory } from './channel-directory.ts'

export interface ChannelHealthOptions {
  readonly health: HealthStore
  readonly directory: ChannelDirectory
  readonly publisher: OutboxPublisher
  readonly clock: Clock
  readonly logger: Logger
}

/** Keeps what deliveries tell of their channels, and disables the ones that only cost everybody's time. */
export class ChannelHealthKeeper {
  readonly #options: ChannelHealthOptions

  constructor(options: ChannelHealthOptions) {
    this.#options = options
  }

  /** @throws AppError `unavailable` when it is not recorded */
  async note(channels: readonly ChannelNews[]): Promise<void> {
    if (channels.length === 0) return
    const { health, directory, logger } = this.#options
    await health.record(channels)
    const orders = [...(await this.#refusedForGood(channels)), ...(await this.#failingTooLong(channels))]
    if (orders.length === 0) return
    const disabled = await health.disable(orders)
    crashPoint('notifier.after-disable')
    for (const { channelId, projectId, reason, incidentId } of orders) {
      directory.noteDisabled(channelId, reason)
      logger.warn({ channel_id: channelId, project_id: projectId, incident_id: incidentId, reason }, 'channel.disabled')
    }
    await this.#publish(disabled)
  }

  /** Forgives a channel's failures, as a person asked at that time. @returns why or why not, for the log */
  async enable(channelId: string, projectId: string, askedAtMs: number): Promise<string> {
    const { health, directory } = this.#options
    const decision = enableChannel(await health.find(channelId), projectId, askedAtMs)
    if (decision.kind === 'keep') return decision.reason
    const pending = await health.enable(channelId, decision)
    crashPoint('notifier.after-enable')
    if (pending === undefined) return 'disabled_since'
    directory.forget(channelId)
    await this.#publish([pending])
    return decision.reason
  }

  /** What the receiver itself declared final needs no five days. */
  async #refusedForGood(channels: readonly ChannelNews[]): Promise<DisableOrder[]> {
    const refused = channels.flatMap(({ channelId, projectId, news }) => {
      const final = news.find(one => one.kind === 'disable')
      return final === undefined ? [] : [{ channelId, projectId, final }]
    })
    if (refused.length === 0) return []
    const records = await this.#options.directory.find(refused.map(({ channelId }) => channelId))
    return refused.map(({ channelId, projectId, final }) => {
      const name = records.get(channelId)?.channel.name ?? channelId
      return disableChannel({ channelId, projectId, name }, final.error, final.atMs)
    })
  }

  async #failingTooLong(channels: readonly ChannelNews[]): Promise<DisableOrder[]> {
    const { health, directory, clock } = this.#options
    const failing = channels.filter(({ news }) => news.some(one => one.kind === 'failed'))
    if (failing.length === 0) return []
    const nowMs = clock.now()
    const ids = failing.map(({ channelId }) => channelId)
    const suspects = await health.failingSince(ids, nowMs - FAILING_TOO_LONG_MS)
    if (suspects.length === 0) return []
    const records = await directory.find(suspects.map(({ _id }) => _id))
    return suspects.flatMap(suspect => {
      const verdict = judgeHealth(suspect, nowMs)
      if (verdict.kind === 'goes_on') return []
      const { _id: channelId, project_id: projectId } = suspect
      const name = records.get(channelId)?.channel.name ?? channelId
      return [disableChannel({ channelId, projectId, name }, verdict.text, nowMs)]
    })
  }

  /** A broker that is away holds up nobody here: what lies in the outbox is swept. */
  async #publish(outboxes: readonly PendingOutbox[]): Promise<void> {
    try {
      await this.#options.publisher.publish(outboxes)
    } catch (error) {
      if (!(error instanceof AppError) || !error.retryable) throw error
      this.#options.logger.warn({ channels: outboxes.map(one => one.documentId), error }, 'outbox.left_to_sweep')
    }
  }
}
