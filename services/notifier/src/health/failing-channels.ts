import { describeUnreached } from '@backstop/channels'
import { type ChannelHealthDocument, isHeartbeatProject } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import type { ChannelRecord, ChannelStore } from '../channels/channel-store.ts'
import type { HealthStore, ReachOrder } from './health-store.ts'
import { publishOrDefer } from './publish-or-defer.ts'
import { type FailingOrder, judgeFailing, openFailing, resolveFailing } from './rules/failing-channel.ts'

export interface FailingChannelsOptions {
  readonly health: Pick<HealthStore, 'findTroubled' | 'recordReach' | 'changeFailing'>
  readonly channels: Pick<ChannelStore, 'findChannels' | 'findSubscribedChannels'>
  readonly publisher: OutboxPublisher
  readonly clock: Clock
  readonly logger: Logger
}

/** Pause between two looks for channels that deliver nothing, in milliseconds. */
const LOOK_EVERY_MS = 5_000

/**
 * Opens an incident for each channel that delivers nothing, and resolves it when the channel delivers again. It looks
 * by time, not by attempt, because retries are up to hours apart. Every notifier looks; a conditional write decides
 * which one reports.
 */
export class FailingChannels {
  readonly #options: FailingChannelsOptions
  readonly #periodic: Periodic

  constructor(options: FailingChannelsOptions) {
    this.#options = options
    const { clock, logger } = options
    this.#periodic = createPeriodic({
      clock,
      pauseMs: LOOK_EVERY_MS,
      run: () => this.#look(),
      onFailure: error => logger.warn({ error }, 'failing_channels.look_failed'),
    })
  }

  start(): void {
    this.#periodic.start()
  }

  stop(): Promise<void> {
    return this.#periodic.stop()
  }

  /** Records which mail channels of these projects reach nobody, after addresses were suppressed. @throws AppError `unavailable` */
  async checkReach(projectIds: readonly string[]): Promise<void> {
    if (projectIds.length === 0) return
    const { channels, health, clock } = this.#options
    const subscribed = await channels.findSubscribedChannels(projectIds)
    const records = await channels.findChannels(subscribed.map(({ channelId }) => channelId))
    const unreached = records.map(record => reachOf(record, clock.now())).filter(one => one.unreached !== null)
    await health.recordReach(unreached)
  }

  async #look(): Promise<void> {
    const { health, channels, clock, logger } = this.#options
    const troubled = await this.#findTroubled()
    if (troubled.length === 0) return
    const found = await channels.findChannels(troubled.map(({ _id }) => _id))
    const records = new Map(found.map(record => [record.channel._id, record]))
    const current = await this.#refreshReach(troubled, records)
    const orders = current.flatMap(one => orderOf(one, records.get(one._id), clock.now()) ?? [])
    if (orders.length === 0) return
    const pending = await health.changeFailing(orders)
    for (const { kind, channelId, incidentId } of orders) {
      logger.warn({ channel_id: channelId, incident_id: incidentId, change: kind }, 'channel.failing')
    }
    await publishOrDefer(pending, this.#options)
  }

  /** A person may have removed a suppression or set other addresses, or an attempt showed that nobody is reached. */
  async #refreshReach(
    troubled: readonly ChannelHealthDocument[],
    records: ReadonlyMap<string, ChannelRecord>,
  ): Promise<readonly ChannelHealthDocument[]> {
    const changed = troubled.flatMap(({ _id, unreached }) => {
      const record = records.get(_id)
      if (record === undefined || record.channel.deleted_at !== null) return []
      const order = reachOf(record, this.#options.clock.now())
      return order.unreached?.reason === unreached?.reason ? [] : [order]
    })
    if (changed.length === 0) return troubled
    await this.#options.health.recordReach(changed)
    return this.#findTroubled()
  }

  /** The heartbeat has its own alert rule. */
  async #findTroubled(): Promise<readonly ChannelHealthDocument[]> {
    const troubled = await this.#options.health.findTroubled()
    return troubled.filter(({ project_id }) => !isHeartbeatProject(project_id))
  }
}

function reachOf({ channel, project }: ChannelRecord, nowMs: number): ReachOrder {
  const reason = describeUnreached(channel.config, project.suppressed)
  const unreached = reason === null ? null : { since: new Date(nowMs), reason }
  return { channelId: channel._id, projectId: channel.project_id, unreached }
}

function orderOf(
  health: ChannelHealthDocument,
  record: ChannelRecord | undefined,
  nowMs: number,
): FailingOrder | undefined {
  const { _id: channelId, project_id: projectId, failing_incident_id } = health
  const channel = record && { enabled: record.channel.enabled, deleted: record.channel.deleted_at !== null }
  const verdict = judgeFailing(health, channel, nowMs)
  if (verdict.kind === 'open') {
    return openFailing({ channelId, projectId, name: record?.channel.name ?? channelId }, verdict.text, nowMs)
  }
  if (verdict.kind === 'goes_on' || failing_incident_id == null) return undefined
  return resolveFailing({ channelId, projectId }, failing_incident_id, verdict.reason, nowMs)
}
