import { expect, test } from 'vitest'
import { decideChannelTest } from './channel-test-limit.ts'

const NOW = new Date('2026-11-28T10:00:00Z')
const ago = (seconds: number, channel_id = 'chn_1') => ({ channel_id, at: new Date(NOW.getTime() - seconds * 1_000) })
const hourOf = (count: number) => Array.from({ length: count }, (_, index) => ago(3_000 - index, `chn_other_${index}`))

test('allows the first test, and records it without those of more than an hour ago', () => {
  const tests = [ago(3_600), ago(3_599)]
  expect(decideChannelTest(tests, 'chn_1', NOW)).toEqual({ kind: 'allowed', tests: [ago(3_599), ago(0)] })
})

test.each([
  { tests: [ago(9)], refused: { limit: 'channel', retryAfterS: 1 } },
  { tests: [ago(0.5)], refused: { limit: 'channel', retryAfterS: 10 } },
  { tests: [ago(10)], refused: undefined },
  { tests: [ago(1, 'chn_2')], refused: undefined },
  { tests: hourOf(60), refused: { limit: 'project', retryAfterS: 600 } },
  { tests: hourOf(59), refused: undefined },
])('refuses with the time to wait: $refused', ({ tests, refused }) => {
  const decision = decideChannelTest(tests, 'chn_1', NOW)
  if (refused === undefined) expect(decision).toMatchObject({ kind: 'allowed' })
  else expect(decision).toEqual({ kind: 'refused', ...refused })
})
