import type { HealthNews } from '../domain/settle-attempt.ts'

/** What deliveries told about one channel, in the order in which they ended. */
export interface ChannelNews {
  readonly channelId: string
  readonly projectId: string
  readonly news: readonly HealthNews[]
}

/** The only writer of `channel_health`. */
export interface HealthStore {
  /** Records news of many channels in one write. A channel that is disabled already keeps its first reason. */
  record(channels: readonly ChannelNews[]): Promise<void>
}

/** What several pieces of news come to. */
export interface HealthChange {
  readonly lastSuccessAtMs: number | null
  readonly lastFailureAtMs: number | null
  readonly lastError: string | null
  readonly disable: { readonly atMs: number; readonly reason: string } | null
}

export function foldNews(news: readonly HealthNews[]): HealthChange {
  let change: HealthChange = { lastSuccessAtMs: null, lastFailureAtMs: null, lastError: null, disable: null }
  for (const one of news) {
    if (one.error !== null) change = { ...change, lastError: one.error }
    if (one.kind === 'worked') change = { ...change, lastSuccessAtMs: Math.max(one.atMs, change.lastSuccessAtMs ?? 0) }
    else change = { ...change, lastFailureAtMs: Math.max(one.atMs, change.lastFailureAtMs ?? 0) }
    if (one.kind === 'disable') change = { ...change, disable: change.disable ?? { atMs: one.atMs, reason: one.error } }
  }
  return change
}
