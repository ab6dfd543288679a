import type { ChannelReports } from './health-store.ts'
import type { HealthReport } from './rules/channel-health.ts'

/** Number of working channels beyond which reports are written at once, to limit memory. */
const MAX_WORKING = 20_000

/**
 * Delays the reports of channels that work and still work. Without the delay, the same facts would be written every few
 * milliseconds.
 */
export class UnsentReports {
  /** The channels that are recorded as working, with their delayed reports, by channel id. */
  readonly #working = new Map<string, { readonly projectId: string; reports: HealthReport[] }>()

  /** True if the report may be delayed: the channel is recorded as working, and the report says the same. */
  canDelay({ channelId, reports }: ChannelReports): boolean {
    return this.#working.has(channelId) && reports.every(one => one.kind === 'worked')
  }

  hold({ channelId, projectId, reports }: ChannelReports): void {
    const held = this.#working.get(channelId)
    if (held === undefined) this.#working.set(channelId, { projectId, reports: [...reports] })
    else held.reports.push(...reports)
  }

  /** Remembers which of these recorded channels work: those whose last report is a success. */
  rememberRecorded(channels: readonly ChannelReports[]): void {
    for (const { channelId, projectId, reports } of channels) {
      if (reports.at(-1)?.kind !== 'worked') this.#working.delete(channelId)
      else if (this.#working.size < MAX_WORKING) this.hold({ channelId, projectId, reports: [] })
    }
  }

  /** Removes and returns the delayed reports of these channels; of all channels by default. */
  removeDelayed(channelIds: Iterable<string> = this.#working.keys()): ChannelReports[] {
    const taken: ChannelReports[] = []
    for (const channelId of channelIds) {
      const held = this.#working.get(channelId)
      if (held === undefined || held.reports.length === 0) continue
      taken.push({ channelId, projectId: held.projectId, reports: held.reports })
      held.reports = []
    }
    return taken
  }
}
