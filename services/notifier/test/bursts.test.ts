/** Bursts on the whole notifier in memory: one story for people, from the alarm over the second looks to the end of the storm. */

import type { ChannelDocument } from '@backstop/channels'
import {
  action,
  alert,
  emailChannel,
  incidentAlerts,
  PROJECT,
  pagerDutyChannel,
  sampleBurst,
  sampleBurstEnd,
  slackChannel,
  webhookChannel,
} from '@backstop/channels/test'
import type { Alert, Burst, Incident, Storm } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const PAGER = 'https://events.pagerduty.com/v2/enqueue'
const EVENTS = ['incident.opened', 'incident.acknowledged', 'incident.resolved'] as const
const ALL = { events: [...EVENTS] }
const PEOPLE = ['chn_slack', 'chn_mail', 'chn_pager'] as const
const STORM = 'stm_burst'
const BURST_INCIDENT = 'inc_burst'

async function startNotifier(...more: ChannelDocument[]): Promise<MemoryNotifier> {
  const notifier = createMemoryNotifier()
  const channels = [
    slackChannel('chn_slack', 'https://hooks.slack.com/services/T0/B0/x', ALL),
    emailChannel('chn_mail', ['ops@example.com'], ALL),
    pagerDutyChannel('chn_pager', PAGER, '0'.repeat(32), ALL),
    webhookChannel('chn_hook', 'https://program.example.com/', undefined, ALL),
    ...more,
  ]
  for (const one of channels) notifier.collections.channels.set(one._id, one)
  notifier.state.reply = ({ url }) => ({ status: String(url).startsWith(PAGER) ? 202 : 200, body: 'ok' })
  await notifier.start({ storms: DEFAULT_STORM_SETTINGS, maxQueuedPerChannel: 1_000 })
  await notifier.clock.advance(100)
  return notifier
}

/** The alerts about a burst that begins now and whose second looks are in a minute. */
function burstNow(notifier: MemoryNotifier, { of: facts = {} as Partial<Burst> } = {}) {
  const at = (afterMs: number) => new Date(notifier.clock.now() + afterMs).toISOString()
  const opened_at = at(0)
  const burst: Partial<Burst> = { looks_at: at(MINUTE), last_look_at: at(MINUTE + 3 * SECOND), ...facts }
  const about: Partial<Incident> = {
    project_id: PROJECT,
    connection_id: 'con_1',
    incident_id: BURST_INCIDENT,
    storm_id: STORM,
    opened_at,
  }
  const of = (one: Alert): Alert => ({ ...one, project_id: PROJECT, created_at: at(0) })
  return {
    opened: of(sampleBurst(burst, about)),
    acknowledged: of(sampleBurst(burst, { ...about, state: 'acknowledged' }, 'incident.acknowledged')),
    resolved: of(
      sampleBurst(burst, { ...about, state: 'resolved', reason: 'other', resolved_by: 'Ann' }, 'incident.resolved'),
    ),
    explained: of(sampleBurstEnd('explained', about)),
    confirmed: of(sampleBurstEnd('confirmed', about)),
  }
}

/** Unexplained refunds whose incidents open now. */
function refunds(notifier: MemoryNotifier, many: number, first = 0) {
  return Array.from({ length: many }, (_, index) => {
    const incident_id = `inc_${first + index}`
    const opened_at = new Date(notifier.clock.now()).toISOString()
    const { alert_id } = incidentAlerts(incident_id).opened
    const one = alert({ id: alert_id, at: opened_at, incident: { incident_id, opened_at } })
    if (one.event !== 'incident.opened' || one.data.action === null) throw new Error('The sample is of another event')
    return { ...one, data: { ...one.data, action: action({ action_id: one.data.action.action_id, amount: 100 }) } }
  })
}

function resolvedOf(one: ReturnType<typeof refunds>[number]): Alert {
  const { resolved } = incidentAlerts(one.data.incident.incident_id)
  const made = { ...one.data.action, verdict: 'explained' as const }
  return { ...resolved, data: { incident: { ...one.data.incident, state: 'resolved' }, action: made } } as Alert
}

const deliveredTo = (notifier: MemoryNotifier, channelId: string): Alert[] =>
  [...notifier.collections.deliveries.values()]
    .filter(one => one.channel_id === channelId && one.state === 'delivered')
    .map(one => one.alert)
/** What a channel got, in words: the events, and the reports with their cause and count. */
const storyOf = (notifier: MemoryNotifier, channelId: string) =>
  deliveredTo(notifier, channelId).map(({ event, data }) =>
    'storm' in data ? `${data.storm.cause} ${data.storm.count}` : event,
  )
const reportsTo = (notifier: MemoryNotifier, channelId: string): Storm[] =>
  deliveredTo(notifier, channelId).flatMap(({ data }) => ('storm' in data ? [data.storm] : []))
const pages = (notifier: MemoryNotifier) =>
  notifier.requests
    .filter(({ url }) => String(url).startsWith(PAGER))
    .map(({ body }) => JSON.parse(String(body)) as { event_action: string; dedup_key: string })

describe('a burst', () => {
  test('that is confirmed is one alarm and the reports of one storm, and one page', async () => {
    const notifier = await startNotifier()
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened)
    await notifier.clock.advance(MINUTE)
    for (const id of PEOPLE) expect(storyOf(notifier, id)).toEqual(['incident.opened'])
    for (let second = 0; second < 60; second++) {
      await notifier.publish(...refunds(notifier, 25, second * 25))
      await notifier.clock.advance(SECOND)
    }
    await notifier.publish(burst.confirmed)
    await notifier.clock.advance(30 * MINUTE)
    for (const id of PEOPLE) {
      expect(storyOf(notifier, id)).toEqual([
        'incident.opened',
        expect.stringMatching(/^new_actions [23]\d\d$/),
        'new_actions 1500',
        'ended 1500',
      ])
    }
    expect(reportsTo(notifier, 'chn_mail')[0]).toMatchObject({
      report: 1,
      storm_id: STORM,
      bursts: [{ incident_id: BURST_INCIDENT, count: 12 }],
    })
    expect(new Set(pages(notifier).map(({ dedup_key }) => dedup_key))).toEqual(new Set([STORM]))
    expect(notifier.mails.map(({ threadId }) => threadId)).toEqual(notifier.mails.map(() => STORM))
    const programs = deliveredTo(notifier, 'chn_hook')
    expect(programs).toHaveLength(1_502)
    for (const { data } of programs) expect(data).toMatchObject({ incident: { storm_id: STORM } })
    expect([...notifier.collections.stormMembers.values()].every(({ alone }) => !alone)).toBe(true)
  })

  test('that is explained is one alarm and one message that ends it, and the empty storm is forgotten', async () => {
    const notifier = await startNotifier()
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened)
    await notifier.clock.advance(MINUTE)
    await notifier.publish(burst.explained)
    await notifier.clock.advance(30 * MINUTE)
    for (const id of [...PEOPLE, 'chn_hook']) {
      expect(storyOf(notifier, id)).toEqual(['incident.opened', 'incident.resolved'])
    }
    expect(pages(notifier).map(({ event_action, dedup_key }) => [event_action, dedup_key])).toEqual([
      ['trigger', STORM],
      ['resolve', STORM],
    ])
    expect(notifier.collections.storms.size).toBe(0)
  })

  test('that is explained except for some actions says so once, and the page of these stays', async () => {
    const notifier = await startNotifier()
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened)
    await notifier.clock.advance(MINUTE)
    await notifier.publish(...refunds(notifier, 1), burst.explained)
    await notifier.clock.advance(30 * MINUTE)
    for (const id of PEOPLE) {
      expect(storyOf(notifier, id).toSorted()).toEqual([
        'ended 1',
        'incident.opened',
        'incident.resolved',
        'new_actions 1',
      ])
    }
    const resolutions = pages(notifier).filter(({ event_action }) => event_action === 'resolve')
    expect(resolutions.map(({ dedup_key }) => dedup_key)).toEqual([BURST_INCIDENT])
    expect(deliveredTo(notifier, 'chn_hook').at(-1)).toMatchObject({ data: { incident: { storm_id: STORM } } })
  })

  test('whose second looks never come is forgotten after the quiet time', async () => {
    const notifier = await startNotifier()
    await notifier.publish(burstNow(notifier).opened)
    await notifier.clock.advance(5 * MINUTE)
    expect(notifier.collections.storms.size).toBe(1)
    await notifier.clock.advance(2 * MINUTE)
    expect(notifier.collections.storms.size).toBe(0)
    expect(storyOf(notifier, 'chn_mail')).toEqual(['incident.opened'])
  })

  test('that is acknowledged or resolved by a person does so in PagerDuty, and its storm goes on', async () => {
    const notifier = await startNotifier()
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened, burst.acknowledged)
    await notifier.clock.advance(SECOND)
    await notifier.publish(burst.resolved)
    await notifier.clock.advance(SECOND)
    expect(pages(notifier).map(({ event_action }) => event_action)).toEqual(['trigger', 'acknowledge', 'resolve'])
    await notifier.clock.advance(MINUTE)
    await notifier.publish(...refunds(notifier, 3))
    await notifier.clock.advance(MINUTE)
    expect(storyOf(notifier, 'chn_slack').at(-1)).toBe('new_actions 3')
  })

  test('during another storm is a message of that storm', async () => {
    const notifier = await startNotifier()
    await notifier.publish(...refunds(notifier, 15))
    await notifier.clock.advance(2 * MINUTE)
    const [storm] = notifier.collections.storms.keys()
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened)
    await notifier.clock.advance(MINUTE)
    await notifier.publish(...refunds(notifier, 3, 100), burst.confirmed)
    await notifier.clock.advance(20 * MINUTE)
    expect([...notifier.collections.storms.keys()]).toEqual([storm])
    expect(storyOf(notifier, 'chn_mail').slice(9)).toEqual([
      'new_actions 15',
      'incident.opened',
      'new_actions 18',
      'ended 18',
    ])
    expect(
      deliveredTo(notifier, 'chn_mail').find(({ data }) => 'incident' in data && data.incident.burst),
    ).toMatchObject({
      data: { incident: { storm_id: storm } },
    })
    const [first] = reportsTo(notifier, 'chn_mail').filter(({ bursts }) => bursts !== undefined)
    expect(first).toMatchObject({ count: 18, bursts: [{ incident_id: BURST_INCIDENT }] })
  })

  test.each([
    { name: 'one connected account', burst: { account: 'acct_1' }, accounts: 1 },
    { name: 'many connected accounts', burst: { accounts: 3 }, accounts: 3 },
  ])('of $name begins the storm that their actions join', async ({ burst: of, accounts }) => {
    const notifier = await startNotifier()
    const { opened } = burstNow(notifier, { of })
    await notifier.publish(opened)
    await notifier.clock.advance(MINUTE)
    const all = refunds(notifier, 12)
    for (const [index, { data }] of all.entries()) data.action.account = `acct_${1 + (index % accounts)}`
    await notifier.publish(...all)
    await notifier.clock.advance(20 * MINUTE)
    expect(storyOf(notifier, 'chn_mail')).toEqual(['incident.opened', 'new_actions 12', 'ended 12'])
  })

  test('that is silenced is silent, and opens no storm', async () => {
    const notifier = await startNotifier()
    notifier.collections.silences.set('sil_1', {
      _id: 'sil_1',
      project_id: PROJECT,
      connection_id: 'con_1',
      reason: 'A planned correction',
      created_by: 'key_1',
      created_at: new Date(notifier.clock.now() - 1),
      ends_at: new Date(notifier.clock.now() + 60 * MINUTE),
      ended_by: null,
    })
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened)
    await notifier.clock.advance(MINUTE)
    await notifier.publish(burst.explained)
    await notifier.clock.advance(MINUTE)
    expect([...notifier.collections.deliveries.values()]).toEqual([])
    expect(notifier.collections.storms.size).toBe(0)
  })

  test('is filtered by its kinds and sums', async () => {
    const filter = { connection_ids: null, kinds: null, minimum_amounts: null }
    const notifier = await startNotifier(
      emailChannel('chn_large', ['a@example.com'], {
        ...ALL,
        filter: { ...filter, minimum_amounts: { eur: 59_880, usd: 9_999 } },
      }),
      emailChannel('chn_larger', ['b@example.com'], {
        ...ALL,
        filter: { ...filter, minimum_amounts: { eur: 59_881, usd: 9_999 } },
      }),
      emailChannel('chn_kinds', ['c@example.com'], { ...ALL, filter: { ...filter, kinds: ['cancellation'] } }),
    )
    await notifier.publish(burstNow(notifier).opened)
    await notifier.clock.advance(SECOND)
    expect(storyOf(notifier, 'chn_large')).toEqual(['incident.opened'])
    expect(storyOf(notifier, 'chn_larger')).toEqual([])
    expect(storyOf(notifier, 'chn_kinds')).toEqual([])
  })

  test('and its storm are not held by quiet hours', async () => {
    const quiet_hours = { time_zone: 'UTC', from: '09:00', to: '12:00', days: null }
    const notifier = await startNotifier(emailChannel('chn_quiet', ['night@example.com'], { ...ALL, quiet_hours }))
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened, alert({ id: 'alr_held', incident: { connection_id: 'con_2' } }))
    await notifier.clock.advance(SECOND)
    expect(storyOf(notifier, 'chn_quiet')).toEqual(['incident.opened'])
    await notifier.clock.advance(MINUTE)
    await notifier.publish(...refunds(notifier, 12))
    await notifier.clock.advance(10 * MINUTE)
    expect(storyOf(notifier, 'chn_quiet')).toEqual(['incident.opened', 'new_actions 12', 'ended 12'])
  })

  test('is a message of its own also if many others wait', async () => {
    const notifier = await startNotifier()
    const others = Array.from({ length: 60 }, (_, index) =>
      alert({ id: `alr_other_${index}`, incident: { connection_id: `con_other_${index}` } }),
    )
    await notifier.publish(...others, burstNow(notifier).opened)
    await notifier.clock.advance(2 * MINUTE)
    const delivery = notifier.deliveryOf(burstNow(notifier).opened.alert_id, 'chn_slack')
    expect(delivery).toMatchObject({ state: 'delivered' })
    expect(delivery?.told_by).toBeUndefined()
    expect([...notifier.collections.deliveries.values()].some(({ told_by }) => told_by !== undefined)).toBe(true)
  })

  test('whose alarm waits for its retry is reported by the storm instead', async () => {
    const notifier = await startNotifier()
    const { reply } = notifier.state
    notifier.state.reply = request =>
      String(request.body).includes('Burst: ') ? { status: 500, body: '' } : reply(request)
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened)
    await notifier.clock.advance(MINUTE)
    await notifier.publish(...refunds(notifier, 12))
    await notifier.clock.advance(20 * SECOND)
    const alarm = notifier.deliveryOf(burst.opened.alert_id, 'chn_slack')
    expect(alarm?.state).toBe('superseded')
    expect(storyOf(notifier, 'chn_slack')).toEqual(['new_actions 12'])
    notifier.state.reply = reply
    notifier.requests.length = 0
    await notifier.clock.advance(4 * MINUTE)
    expect(notifier.requests).toEqual([])
  })

  test('and its refunds that are fanned out again change nothing', async () => {
    const notifier = await startNotifier()
    const burst = burstNow(notifier)
    await notifier.publish(burst.opened, burst.opened)
    await notifier.clock.advance(MINUTE)
    const all = refunds(notifier, 12)
    await notifier.publish(burst.opened, ...all)
    await notifier.publish(...all, burst.confirmed)
    await notifier.clock.advance(20 * MINUTE)
    await notifier.publish(burst.opened, ...all, burst.confirmed)
    await notifier.clock.advance(20 * MINUTE)
    expect(storyOf(notifier, 'chn_mail')).toEqual(['incident.opened', 'new_actions 12', 'ended 12'])
    expect([...notifier.collections.storms.keys()]).toEqual([STORM])
  })
})

test('the page of a confirmed burst is resolved when all its actions are', async () => {
  const notifier = await startNotifier()
  const burst = burstNow(notifier)
  await notifier.publish(burst.opened)
  await notifier.clock.advance(MINUTE)
  const all = refunds(notifier, 12)
  await notifier.publish(...all, burst.confirmed)
  await notifier.clock.advance(20 * MINUTE)
  await notifier.publish(...all.map(resolvedOf))
  await notifier.clock.advance(MINUTE)
  expect(pages(notifier).map(({ event_action }) => event_action)).toEqual(['trigger', 'trigger', 'trigger', 'resolve'])
  expect(new Set(pages(notifier).map(({ dedup_key }) => dedup_key))).toEqual(new Set([STORM]))
})
