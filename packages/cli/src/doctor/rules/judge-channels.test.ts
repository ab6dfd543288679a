import { expect, test } from 'vitest'
import { type ChannelFacts, judgeChannels } from './judge-channels.ts'

const healthy: ChannelFacts = {
  channel_id: 'chn_1',
  project_id: 'prj_1',
  name: 'Team',
  enabled: true,
  health: {
    state: 'healthy',
    failing_since: null,
    last_error: null,
    warning: null,
    disabled_at: null,
    disabled_reason: null,
  },
}
const failing = (since: string, health: Partial<ChannelFacts['health']> = {}): ChannelFacts => ({
  ...healthy,
  health: { ...healthy.health, state: 'failing', failing_since: since, last_error: 'It answers 500', ...health },
})
const another: ChannelFacts = { ...healthy, channel_id: 'chn_2', name: 'Other' }
const SINCE = '2026-11-21T09:45:00Z'
const NOW = Date.parse('2026-11-21T10:00:00Z')

test('names the channel that delivers nothing, since when, why and what to do', () => {
  const [found, ...others] = judgeChannels([failing(SINCE), another], NOW)
  expect(others).toEqual([])
  expect(found).toMatchObject({
    code: 'channel_failing',
    severity: 'error',
    what: `The channel Team (chn_1) of the project prj_1 has delivered nothing since ${SINCE}: It answers 500`,
    docs: 'docs/doctor.md#channel_failing',
  })
  expect(found?.remedy).toMatch(/channels test chn_1.*replay deliveries chn_1/)
})

test('warns of a channel that has delivered nothing for a minute', () => {
  const [found] = judgeChannels([failing('2026-11-21T09:59:00Z'), another], NOW)
  expect(found).toMatchObject({
    code: 'channel_failing',
    severity: 'warning',
    what: expect.stringMatching(/^The channel Team .* has delivered nothing since .*: It answers 500$/),
  })
  const [later] = judgeChannels([failing('2026-11-21T09:45:01Z'), another], NOW)
  expect(later?.severity).toBe('warning')
})

test('names a mail channel that reaches nobody', () => {
  const warning = 'No address gets mail: 1 address is suppressed (1 unsubscribed)'
  const now = '2026-11-21T10:00:00Z'
  const [found] = judgeChannels([failing(now, { warning, last_error: null }), another], NOW)
  expect(found).toMatchObject({ severity: 'error', what: expect.stringContaining(warning) })
})

test('says that nobody is alerted if no other channel of the project works', () => {
  const elsewhere = { ...another, project_id: 'prj_2' }
  const off = { ...another, enabled: false }
  const [found] = judgeChannels([failing(SINCE), elsewhere, off], NOW)
  expect(found?.what).toMatch(/nobody is alerted$/)
})

test.each([
  { name: 'works', channel: healthy },
  { name: 'has failed for less than a minute', channel: failing('2026-11-21T09:59:01Z') },
  { name: 'is switched off', channel: { ...failing(SINCE), enabled: false } },
])('names no channel that $name', ({ channel }) => {
  expect(judgeChannels([channel], NOW)).toEqual([])
})
