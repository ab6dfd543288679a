import type { ProjectDocument } from '@backstop/contracts'

type ChannelTests = NonNullable<ProjectDocument['channel_tests']>

/** A test sends real messages to addresses that nobody confirmed, so it must not become a way to flood somebody. */
const CHANNEL_MS = 10_000
const PROJECT_MS = 3_600_000
const PROJECT_TESTS = 60

/** Whether a channel may be tested now. */
export type TestDecision =
  | { readonly kind: 'allowed'; readonly tests: ChannelTests }
  | { readonly kind: 'refused'; readonly limit: 'channel' | 'project'; readonly retryAfterS: number }

/**
 * Allows one test of a channel in 10 seconds, and 60 tests of all channels of a project in an hour.
 * @param tests the earlier tests of the project
 */
export function decideChannelTest(tests: ChannelTests, channelId: string, now: Date): TestDecision {
  const since = (ms: number) => now.getTime() - ms
  const recent = tests.filter(({ at }) => at.getTime() > since(PROJECT_MS))
  const ofChannel = recent.findLast(
    ({ channel_id, at }) => channel_id === channelId && at.getTime() > since(CHANNEL_MS),
  )
  if (ofChannel !== undefined) return refuse('channel', ofChannel.at.getTime() + CHANNEL_MS, now)
  const [oldest] = recent
  if (oldest !== undefined && recent.length >= PROJECT_TESTS)
    return refuse('project', oldest.at.getTime() + PROJECT_MS, now)
  return { kind: 'allowed', tests: [...recent, { channel_id: channelId, at: now }] }
}

function refuse(limit: 'channel' | 'project', untilMs: number, now: Date): TestDecision {
  return { kind: 'refused', limit, retryAfterS: Math.max(1, Math.ceil((untilMs - now.getTime()) / 1_000)) }
}
