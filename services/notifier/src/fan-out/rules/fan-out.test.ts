import { SAMPLE_ALERTS } from '@backstop/channels'
import { alert, PROJECT, sampleFailingChannel } from '@backstop/channels/test'
import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { SubscribedChannel } from '../../channels/channel-store.ts'
import { judgeChannel } from '../../delivery/rules/channel-state.ts'
import type { StormMembership } from '../../storm/record-members.ts'
import { fanOut } from './fan-out.ts'

/** Neither silenced nor the resolution of a recorded opening. */
const USUAL = { isSilenced: false, openings: new Set<string>() }

const listener = (channelId: string, events: string[], projectId = PROJECT): SubscribedChannel => ({
  channelId,
  name: `Name of ${channelId}`,
  projectId,
  events,
  audience: 'programs',
  showsPersonalData: false,
  filter: null,
})

test('an alert goes once to each channel of its project that chose its event, and the same alert gives the same ids', () => {
  const listeners = [
    listener('chn_a', ['incident.opened', 'run.failed']),
    listener('chn_b', ['run.failed']),
    listener('chn_c', ['incident.opened'], 'prj_other'),
    listener('chn_d', ['incident.opened']),
  ]
  const requests = fanOut(alert(), listeners, undefined, USUAL)
  expect(requests.map(request => request.channel_id)).toEqual(['chn_a', 'chn_d'])
  expect(new Set(requests.map(request => request.delivery_id)).size).toBe(2)
  expect(requests.every(request => request.attempt === 1 && !request.test)).toBe(true)
  expect(fanOut(alert(), listeners, undefined, USUAL)).toEqual(requests)
})

test('requests to people name up to three other channels that get the alert, and requests to programs none', () => {
  const ids = ['chn_a', 'chn_b', 'chn_c', 'chn_d', 'chn_e']
  const people = ids.map(id => ({ ...listener(id, ['incident.opened']), audience: 'people' as const }))
  const namesIn = (channels: readonly SubscribedChannel[]) =>
    fanOut(alert(), channels, undefined, USUAL).map(request =>
      request.also_sent_to?.map(name => name.slice(-1)).join(''),
    )
  expect(namesIn(people)).toEqual(['bcd', 'acd', 'abd', 'abc', 'abc'])
  expect(namesIn(people.slice(0, 1))).toEqual([undefined])
  expect(namesIn([listener('chn_p', ['incident.opened']), ...people.slice(0, 1)])).toEqual([undefined, 'p'])
})

test('the alert about a channel that delivers nothing goes to the other channels', () => {
  const about = sampleFailingChannel(PROJECT)
  const listeners = [listener('chn_sample', ['incident.opened']), listener('chn_b', ['incident.opened'])]
  expect(fanOut(about, listeners, undefined, USUAL).map(request => request.channel_id)).toEqual(['chn_b'])
})

test('an alert goes to no channel whose filter excludes it', () => {
  const filter = { connection_ids: ['con_2'], kinds: null, minimum_amounts: null }
  const listeners = [{ ...listener('chn_a', ['incident.opened']), filter }, listener('chn_b', ['incident.opened'])]
  expect(fanOut(alert(), listeners, undefined, USUAL).map(request => request.channel_id)).toEqual(['chn_b'])
})

test.each([
  { name: 'one that is on', enabled: true, deleted: false, disabledReason: null, kind: 'works', tested: 'works' },
  { name: 'one that is off', enabled: false, deleted: false, disabledReason: null, kind: 'ends', tested: 'works' },
  {
    name: 'one disabled by its health',
    enabled: true,
    deleted: false,
    disabledReason: 'x',
    kind: 'ends',
    tested: 'works',
  },
  { name: 'a deleted one', enabled: true, deleted: true, disabledReason: null, kind: 'ends', tested: 'ends' },
])('a delivery to $name: $kind; a test of it: $tested', ({ enabled, deleted, disabledReason, kind, tested }) => {
  expect(judgeChannel({ enabled, deleted, disabledReason }, false).kind).toBe(kind)
  expect(judgeChannel({ enabled, deleted, disabledReason }, true).kind).toBe(tested)
  expect(judgeChannel(undefined, true).kind).toBe('ends')
})

describe('a storm', () => {
  const people: SubscribedChannel = { ...listener('chn_people', ['incident.opened']), audience: 'people' }
  const programs = listener('chn_programs', ['incident.opened'])
  const idsOf = (alert: Alert, channels: SubscribedChannel[], membership: StormMembership | undefined) =>
    fanOut(alert, channels, membership, USUAL).map(one => one.channel_id)
  const report = () => ({ ...SAMPLE_ALERTS['storm.reported'](PROJECT) })

  test('is reported to people who chose opened incidents, and its actions only to programs', () => {
    expect(idsOf(report(), [people, programs, { ...people, events: ['run.failed'] }], undefined)).toEqual([
      'chn_people',
    ])
    const inStorm = { storm_id: 'stm_1', alone: false }
    expect(idsOf(alert(), [people, programs], inStorm)).toEqual(['chn_programs'])
    expect(fanOut(alert(), [programs], inStorm, USUAL)).toMatchObject([
      { alert: { data: { incident: { storm_id: 'stm_1' } } } },
    ])
  })

  test('shows no storm with an action that people got alone', () => {
    const requests = fanOut(alert(), [people, programs], { storm_id: 'stm_1', alone: true }, USUAL)
    expect(requests).toHaveLength(2)
    for (const request of requests) expect(request).toMatchObject({ alert: { data: { incident: { storm_id: null } } } })
  })

  test('names the customer only where the channel may show personal data', () => {
    const alert = report()
    if (alert.event !== 'storm.reported') throw new Error('The sample is of another event')
    const customer = { value: { id: 'cus_1', name: 'Canary', email: 'canary@customer.example' }, count: 400 }
    const common = { ...alert.data.storm.common, customer }
    const named = { ...alert, data: { ...alert.data, storm: { ...alert.data.storm, common } } }
    expect(JSON.stringify(fanOut(named, [people], undefined, USUAL))).not.toMatch(/canary/i)
    expect(JSON.stringify(fanOut(named, [{ ...people, showsPersonalData: true }], undefined, USUAL))).toContain(
      'Canary',
    )
  })
})
