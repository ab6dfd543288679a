import { incidentAlerts, PROJECT } from '@backstop/channels/test'
import type { ChannelFilter } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { SubscribedChannel } from '../../channels/channel-store.ts'
import { openingDeliveryId } from '../../incident-order/rules/decide-order.ts'
import { isLetThrough, openingsToRead } from './follow-opening.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const PASSES: ChannelFilter = { connection_ids: ['con_1'], kinds: null, minimum_amounts: null }
const EXCLUDES: ChannelFilter = { connection_ids: ['con_2'], kinds: null, minimum_amounts: null }

const channel = (filter: ChannelFilter | null, more: Partial<SubscribedChannel> = {}): SubscribedChannel => ({
  channelId: 'chn_1',
  name: 'On call',
  projectId: PROJECT,
  events: ['incident.opened', 'incident.resolved'],
  filter,
  audience: 'programs',
  showsPersonalData: false,
  ...more,
})

function resolvedAfter(ms: number) {
  const { resolved } = incidentAlerts('inc_1')
  return { ...resolved, created_at: new Date(Date.parse(resolved.data.incident.opened_at) + ms).toISOString() }
}

const openings = new Set([openingDeliveryId(resolvedAfter(0), 'chn_1') as string])
const none = new Set<string>()

describe('a resolution', () => {
  test.each([
    { name: 'that the filter excludes', filter: EXCLUDES, isSilenced: false },
    { name: 'that is silenced', filter: null, isSilenced: true },
    { name: 'that is excluded and silenced', filter: EXCLUDES, isSilenced: true },
  ])('$name follows its recorded opening', ({ filter, isSilenced }) => {
    expect(isLetThrough(resolvedAfter(DAY_MS), channel(filter), { isSilenced, openings })).toBe(true)
  })

  test.each([
    { name: 'to a channel without a filter', filter: null, isSilenced: false, isSent: true },
    { name: 'to a channel with a filter that it passes', filter: PASSES, isSilenced: false, isSent: false },
    { name: 'that is silenced', filter: null, isSilenced: true, isSent: false },
  ])('without a recorded opening $name is sent: $isSent', ({ filter, isSilenced, isSent }) => {
    expect(isLetThrough(resolvedAfter(DAY_MS), channel(filter), { isSilenced, openings: none })).toBe(isSent)
  })

  test.each([
    { name: 'soon after the opening, which may still be in Kafka', ms: 10 * MINUTE_MS - 1, isSent: true },
    { name: 'when the opening must be recorded', ms: 10 * MINUTE_MS, isSent: false },
    { name: 'while the record of the opening is kept', ms: 90 * DAY_MS - 1, isSent: false },
    { name: 'when the record of the opening has expired', ms: 90 * DAY_MS, isSent: true },
  ])('$name is sent without a recorded opening if it passes the filter: $isSent', ({ ms, isSent }) => {
    const history = { isSilenced: false, openings: none }
    expect(isLetThrough(resolvedAfter(ms), channel(PASSES), history)).toBe(isSent)
    expect(isLetThrough(resolvedAfter(ms), channel(EXCLUDES), history)).toBe(false)
  })

  test('passes the filter of a channel that chose no openings', () => {
    const chosen = channel(PASSES, { events: ['incident.resolved'] })
    expect(isLetThrough(resolvedAfter(DAY_MS), chosen, { isSilenced: false, openings: none })).toBe(true)
  })
})

describe('the deliveries to read', () => {
  const channels = [channel(null), channel(PASSES, { channelId: 'chn_2' }), channel(PASSES, { projectId: 'prj_other' })]
  const idOf = (channelId: string) => openingDeliveryId(resolvedAfter(0), channelId)

  test('are none for openings', () => {
    expect(openingsToRead(incidentAlerts('inc_1').opened, channels, true)).toEqual([])
  })

  test('are those of the channels with a filter, and of every channel of the project for a silenced resolution', () => {
    expect(openingsToRead(resolvedAfter(0), channels, false)).toEqual([idOf('chn_2')])
    expect(openingsToRead(resolvedAfter(0), channels, true)).toEqual([idOf('chn_1'), idOf('chn_2')])
  })
})
