import type { ChannelHold } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import type { ChannelDirectory } from '../channels/channel-directory.ts'
import type { ChannelReports, HealthStore, HoldOrder } from './health-store.ts'
import { publishOrDefer } from './publish-or-defer.ts'
import {
  type DisableOrder,
  disableChannel,
  enableChannel,
  FAILING_TOO_LONG_MS,
  judgeHealth,
  type Recovery,
} from './rules/channel-health.ts'
import { UnsentReports } from './unsent-reports.ts'

export interface ChannelHealthOptions {
  readonly health: HealthStore
  readonly directory: ChannelDirectory
  readonly publisher: OutboxPublisher
  readonly clock: Clock
  readonly logger: Logger
}

/** Maximum delay of the recorded numbers of a working channel, in milliseconds. A crash loses at most this much. */
const RECORD_HELD_EVERY_MS = 1_000

/** Records the reports that deliveries make about their channels, and disables channels that fail for too long. */
export class ChannelHealthKeeper {
  readonly #options: ChannelHealthOptions
  readonly #held = new UnsentReports()
  /** Pauses that are not recorded yet, by channel id. */
  readonly #holds = new Map<string, HoldOrder>()
  #recordingHolds: Promise<void> | undefined
  readonly #periodic: Periodic

  constructor(options: ChannelHealthOptions) {
    this.#options = options
    const { clock, logger } = options
    this.#periodic = createPeriodic({
      clock,
      pauseMs: RECORD_HELD_EVERY_MS,
      run: async () => {
        this.#recordHolds()
        await this.#recordHeld(this.#held.removeDelayed())
      },
      onFailure: error => logger.warn({ error }, 'health.waiting'),
    })
  }

  start(): void {
    this.#periodic.start()
  }

  /** Records the delayed reports. Call it after the last report. */
  async stop(): Promise<void> {
    await this.#periodic.stop()
    await this.#recordHeld(this.#held.removeDelayed()).catch(error =>
      this.#options.logger.warn({ error }, 'health.lost'),
    )
  }

  /**
   * Records a pause of a channel in the background, for people to see. Without a database the record is late, and the
   * pause itself is not affected.
   */
  notePause(channelId: string, projectId: string, held: ChannelHold): void {
    this.#holds.set(channelId, { channelId, projectId, held })
    this.#recordHolds()
  }

  /**
   * Ends the recorded pause of a channel that a person has changed. Does not throw, because the pause itself is over already.
   * @returns the channel, if it had a recorded pause
   */
  async endPause(channelId: string, projectId: string): Promise<readonly Recovery[]> {
    try {
      await this.#untilHoldsAreRecorded()
      const recoveries = await this.#findRecoveries([channelId])
      await this.#options.health.recordHolds([{ channelId, projectId, held: null }])
      return recoveries
    } catch (error) {
      this.#options.logger.warn({ channel_id: channelId, error }, 'health.pause_not_ended')
      return []
    }
  }

  #recordHolds(): void {
    if (this.#holds.size === 0 || this.#recordingHolds !== undefined) return
    const { health, logger } = this.#options
    const orders = [...this.#holds.values()]
    this.#holds.clear()
    const keep = (error: unknown) => {
      for (const one of orders) if (!this.#holds.has(one.channelId)) this.#holds.set(one.channelId, one)
      logger.warn({ channels: orders.length, error }, 'health.pauses_deferred')
      return true
    }
    this.#recordingHolds = health
      .recordHolds(orders)
      .then(() => false, keep)
      .then(hasFailed => {
        this.#recordingHolds = undefined
        if (!hasFailed) this.#recordHolds()
      })
  }

  /** A success is recorded after the pause that it ends. */
  async #untilHoldsAreRecorded(): Promise<void> {
    await this.#recordingHolds
  }

  async #findRecoveries(channelIds: readonly string[]): Promise<Recovery[]> {
    if (channelIds.length === 0) return []
    const held = await this.#options.health.findHeld(channelIds)
    return held.map(({ _id: channelId, failing_since, held }) => ({
      channelId,
      failingSinceMs: (failing_since ?? held?.since)?.getTime() ?? this.#options.clock.now(),
    }))
  }

  /**
   * Records the reports, or delays those that say nothing new.
   * @returns the channels with a recorded pause that work again
   * @throws AppError `unavailable` if the reports could neither be recorded nor delayed
   */
  async note(channels: readonly ChannelReports[]): Promise<readonly Recovery[]> {
    const { nothingNew = [], reports = [] } = Object.groupBy(channels, one =>
      this.#held.canDelay(one) ? 'nothingNew' : 'reports',
    )
    const recoveries = reports.length > 0 ? await this.#record(reports) : []
    for (const one of nothingNew) this.#held.hold(one)
    return recoveries
  }

  async #record(channels: readonly ChannelReports[]): Promise<readonly Recovery[]> {
    // Record earlier reports of these channels first, because "has worked since the last failure" depends on the order.
    await this.#recordHeld(this.#held.removeDelayed(channels.map(({ channelId }) => channelId)))
    const working = channels.filter(({ reports }) => reports.some(one => one.kind === 'worked'))
    if (working.length > 0) await this.#untilHoldsAreRecorded()
    const recoveries = await this.#findRecoveries(working.map(({ channelId }) => channelId))
    await this.#options.health.record(channels)
    this.#held.rememberRecorded(channels)
    return recoveries
  }

  /**
   * Disables those of these channels whose receiver is permanently gone, or that fail for too long. Call it after `note`.
   * @throws AppError `unavailable`
   */
  async disableFailing(channels: readonly ChannelReports[]): Promise<void> {
    const { directory, health, logger } = this.#options
    const orders = [...(await this.#permanentlyRefused(channels)), ...(await this.#failingTooLong(channels))]
    if (orders.length === 0) return
    const disabled = await health.disable(orders)
    for (const { channelId, projectId, reason, incidentId } of orders) {
      directory.markDisabled(channelId, reason)
      logger.warn({ channel_id: channelId, project_id: projectId, incident_id: incidentId, reason }, 'channel.disabled')
    }
    await publishOrDefer(disabled, this.#options)
  }

  async #recordHeld(held: readonly ChannelReports[]): Promise<void> {
    if (held.length === 0) return
    try {
      await this.#options.health.record(held)
    } catch (error) {
      for (const one of held) this.#held.hold(one)
      throw error
    }
  }

  /**
   * Clears a channel's failures because a person enabled it at `askedAtMs`. @returns the reason of the decision, for
   * the log
   */
  async enable(channelId: string, projectId: string, askedAtMs: number): Promise<string> {
    const { health, directory } = this.#options
    const decision = enableChannel(await health.find(channelId), projectId, askedAtMs)
    if (decision.kind === 'keep') return decision.reason
    const pending = await health.enable(channelId, decision)
    if (pending === undefined) return 'disabled_since'
    directory.forget(channelId)
    await publishOrDefer([pending], this.#options)
    return decision.reason
  }

  /** Disables channels whose receiver answered that it is permanently gone, without the five days of failures. */
  async #permanentlyRefused(channels: readonly ChannelReports[]): Promise<DisableOrder[]> {
    const refused = channels.flatMap(({ channelId, projectId, reports }) => {
      const final = reports.find(one => one.kind === 'disable')
      return final === undefined ? [] : [{ channelId, projectId, final }]
    })
    if (refused.length === 0) return []
    const records = await this.#options.directory.find(refused.map(({ channelId }) => channelId))
    return refused.map(({ channelId, projectId, final }) => {
      const name = records.get(channelId)?.channel.name ?? channelId
      return disableChannel({ channelId, projectId, name }, final.error, final.atMs)
    })
  }

  async #failingTooLong(channels: readonly ChannelReports[]): Promise<DisableOrder[]> {
    const { health, directory, clock } = this.#options
    const failing = channels.filter(({ reports }) => reports.some(one => one.kind === 'failed'))
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
}
