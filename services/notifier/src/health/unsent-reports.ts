import type { ChannelReports } from '../store/health-store.ts'
import type { HealthReport } from './rules/channel-health.ts'

/** Beyond it, memory is worth more than writes. */
const MAX_WORKING = 20_000

/**
 * Holds back the news that channels that work still work. At full speed every few milliseconds would else write the
 * health of every channel anew, to say the same.
 */
export class UnsentReports {
  /** By channel: those of which it is on record that they work. */
  readonly #working = new Map<string, { readonly projectId: string; news: HealthReport[] }>()

  /** Whether this tells nothing new: the channel worked, and works. */
  mayHold({ channelId, news }: ChannelReports): boolean {
    return this.#working.has(channelId) && news.every(one => one.kind === 'worked')
  }

  hold({ channelId, projectId, news }: ChannelReports): void {
    const held = this.#working.get(channelId)
    if (held === undefined) this.#working.set(channelId, { projectId, news: [...news] })
    else held.news.push(...news)
  }

  /** Takes note of what was just recorded: a channel whose last news was good works, any other does not. */
  noteRecorded(channels: readonly ChannelReports[]): void {
    for (const { channelId, projectId, news } of channels) {
      if (news.at(-1)?.kind !== 'worked') this.#working.delete(channelId)
      else if (this.#working.size < MAX_WORKING) this.hold({ channelId, projectId, news: [] })
    }
  }

  /** Takes out what is held back of these channels; of all when left out. */
  takeOut(channelIds: Iterable<string> = this.#working.keys()): ChannelReports[] {
    const taken: ChannelReports[] = []
    for (const channelId of channelIds) {
      const held = this.#working.get(channelId)
      if (held === undefined || held.news.length === 0) continue
      taken.push({ channelId, projectId: held.projectId, news: held.news })
      held.news = []
    }
    return taken
  }
}
