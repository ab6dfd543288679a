/** Storms on the whole notifier in memory: the messages that people and programs get. */

import type { ChannelDocument } from '@backstop/channels'
import {
  action,
  alert,
  emailChannel,
  incidentAlerts,
  PROJECT,
  pagerDutyChannel,
  slackChannel,
  webhookChannel,
} from '@backstop/channels/test'
import { type Alert, type Storm, stormAlertId } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const MINUTE = 60_000
const EVENTS = ['incident.opened', 'incident.resolved'] as const
const HOOK = 'https://hooks.slack.com/services/T0/B0/x'
const PROGRAM = 'https://program.example.com/'
const channels = (facts: Partial<ChannelDocument> = {}, prefix = 'chn') => {
  const all = { events: [...EVENTS], ...facts } as object
  return [
    slackChannel(`${prefix}_slack`, `${HOOK}${prefix}`, all),
    emailChannel(`${prefix}_mail`, ['ops@example.com'], all),
    webhookChannel(`${prefix}_hook`, PROGRAM, undefined, all),
  ]
}

async function startNotifier(...more: ChannelDocument[]): Promise<MemoryNotifier> {
  const notifier = createMemoryNotifier()
  for (const one of [...channels(), ...more]) notifier.collections.channels.set(one._id, one)
  const at = new Date(notifier.clock.now())
  const project = { _id: PROJECT, name: 'Acme Games', branding: {}, version: 1, created_at: at, updated_at: at }
  notifier.collections.projects.set(PROJECT, project)
  notifier.collections.connections.set('con_1', { _id: 'con_1', project_id: PROJECT, name: 'Shop Germany' })
  notifier.state.reply = () => ({ status: 200, body: 'ok' })
  await notifier.start({ storms: DEFAULT_STORM_SETTINGS, maxQueuedPerChannel: 1_000 })
  await notifier.clock.advance(100)
  return notifier
}

/** Unexplained refunds that begin `first` and follow each other by `everyMs`. */
function refunds(notifier: MemoryNotifier, many: number, { everyMs = 10, first = 0, connection = 'con_1' } = {}) {
  return Array.from({ length: many }, (_, index) => {
    const incident_id = `inc_${connection}_${first + index}`
    const opened_at = new Date(notifier.clock.now() + index * everyMs).toISOString()
    const one = alert({
      id: incidentAlerts(incident_id).opened.alert_id,
      at: opened_at,
      incident: { incident_id, opened_at, connection_id: connection },
    })
    if (one.event !== 'incident.opened' || one.data.action === null) throw new Error('The sample is of another event')
    const { action_id } = one.data.action
    const made = action({ action_id, amount: 100 + first + index, connection_id: connection })
    return { ...one, data: { ...one.data, action: made } }
  })
}

const deliveredTo = (notifier: MemoryNotifier, channelId: string): Alert[] =>
  [...notifier.collections.deliveries.values()]
    .filter(one => one.channel_id === channelId && one.state === 'delivered')
    .map(one => one.alert)
const reportsTo = (notifier: MemoryNotifier, channelId: string): Storm[] =>
  deliveredTo(notifier, channelId).flatMap(one => (one.event === 'storm.reported' ? [one.data.storm] : []))
const openedTo = (notifier: MemoryNotifier, channelId: string) =>
  deliveredTo(notifier, channelId).filter(one => one.event === 'incident.opened')

test('four hundred refunds in four seconds are nine messages and two reports for people, and four hundred for programs', async () => {
  const notifier = await startNotifier()
  const all = refunds(notifier, 400)
  for (let index = 0; index < all.length; index += 25) {
    await notifier.publish(...all.slice(index, index + 25))
    await notifier.clock.advance(250)
  }
  await notifier.clock.advance(20 * MINUTE)
  for (const id of ['chn_slack', 'chn_mail']) {
    expect(openedTo(notifier, id).map(one => one.alert_id)).toEqual(all.slice(0, 9).map(one => one.alert_id))
    expect(reportsTo(notifier, id).map(({ report, state }) => ({ report, state }))).toEqual([
      { report: 1, state: 'open' },
      { report: 2, state: 'ended' },
    ])
    expect(reportsTo(notifier, id).at(-1)).toMatchObject({
      count: 400,
      money: [{ currency: 'eur', count: 400, amount: (400 * (100 + 499)) / 2, largest: 499 }],
      first_at: all[0]?.data.incident.opened_at,
      last_at: all.at(-1)?.data.incident.opened_at,
    })
  }
  expect(notifier.mails).toHaveLength(11)
  expect(notifier.mails.at(-1)?.subject).toMatch(/Ended: 400 unexplained refunds on "Shop Germany", EUR 1,198\.00/)
  const programs = openedTo(notifier, 'chn_hook')
  expect(programs).toHaveLength(400)
  expect(reportsTo(notifier, 'chn_hook')).toEqual([])
  const [storm] = notifier.collections.storms.values()
  const shown = programs.map(one => (one.event === 'incident.opened' ? one.data.incident.storm_id : undefined))
  expect(shown.slice(0, 9)).toEqual(Array(9).fill(null))
  expect(new Set(shown.slice(9))).toEqual(new Set([storm?._id]))
  const [member] = notifier.collections.stormMembers.values()
  expect(member).toMatchObject({ storm_id: storm?._id, alone: true })
})

test('nine refunds, and ten over more than five minutes, are no storm', async () => {
  const notifier = await startNotifier()
  await notifier.publish(...refunds(notifier, 9), ...refunds(notifier, 12, { everyMs: 40_000, connection: 'con_2' }))
  await notifier.clock.advance(20 * MINUTE)
  expect(notifier.collections.storms.size).toBe(0)
  expect(openedTo(notifier, 'chn_mail')).toHaveLength(21)
})

test('people hear of the resolution of the first nine only, and the end says how many are explained', async () => {
  const notifier = await startNotifier()
  const all = refunds(notifier, 30)
  await notifier.publish(...all)
  await notifier.clock.advance(MINUTE)
  const resolved = all.slice(5, 15).map(one => ({
    ...incidentAlerts(one.data.incident.incident_id).resolved,
    data: {
      incident: { ...one.data.incident, state: 'resolved' as const, resolved_by: 'op_1' },
      action: { ...one.data.action, verdict: 'explained' as const },
    },
  }))
  await notifier.publish(...resolved)
  await notifier.clock.advance(20 * MINUTE)
  const resolvedTo = (id: string) => deliveredTo(notifier, id).filter(one => one.event === 'incident.resolved')
  expect(resolvedTo('chn_mail')).toHaveLength(4)
  expect(resolvedTo('chn_hook')).toHaveLength(10)
  const [storm] = notifier.collections.storms.values()
  for (const one of resolvedTo('chn_hook')) {
    expect(one).toMatchObject({ data: { incident: { storm_id: storm?._id } } })
  }
  expect(reportsTo(notifier, 'chn_mail').at(-1)).toMatchObject({ state: 'ended', explained: 10, resolved: 10 })
})

test('when the last incident of an ended storm is resolved, one more report says so, and PagerDuty resolves', async () => {
  const events = 'https://events.pagerduty.com/v2/enqueue'
  const notifier = await startNotifier(pagerDutyChannel('chn_pager', events, '0'.repeat(32), { events: [...EVENTS] }))
  notifier.state.reply = ({ url }) => ({ status: String(url).startsWith(events) ? 202 : 200, body: 'ok' })
  const all = refunds(notifier, 15)
  await notifier.publish(...all)
  await notifier.clock.advance(20 * MINUTE)
  const resolved = all.map(one => ({
    ...incidentAlerts(one.data.incident.incident_id).resolved,
    data: {
      incident: { ...one.data.incident, state: 'resolved' as const, resolved_by: 'op_1' },
      action: { ...one.data.action, verdict: 'explained' as const },
    },
  }))
  await notifier.publish(...resolved.slice(0, 14))
  await notifier.clock.advance(MINUTE)
  const reports = () => reportsTo(notifier, 'chn_pager').map(one => [one.state, one.resolved])
  expect(reports()).toEqual([
    ['open', 0],
    ['ended', 0],
  ])
  await notifier.publish(...resolved.slice(14))
  await notifier.clock.advance(MINUTE)
  await notifier.publish(...resolved)
  await notifier.clock.advance(MINUTE)
  expect(reports()).toEqual([
    ['open', 0],
    ['ended', 0],
    ['ended', 15],
  ])
  const [storm] = notifier.collections.storms.values()
  const sent = notifier.requests.filter(({ url }) => String(url).startsWith(events)).map(({ body }) => String(body))
  const ofStorm = sent.map(body => JSON.parse(body)).filter(event => event.dedup_key === storm?._id)
  expect(ofStorm.map(event => [event.event_action, event.payload?.severity])).toEqual([
    ['trigger', 'critical'],
    ['trigger', 'info'],
    ['resolve', undefined],
  ])
})

test.each([
  { name: 'open', waitMs: 2 * MINUTE },
  { name: 'ended', waitMs: 20 * MINUTE },
])(
  'when people acknowledge all incidents of an $name storm, one report says so, and PagerDuty stops paging',
  async ({ waitMs }) => {
    const events = 'https://events.pagerduty.com/v2/enqueue'
    const pager = (id: string, facts: object) => pagerDutyChannel(id, events, '0'.repeat(32), facts)
    const notifier = await startNotifier(
      pager('chn_pager', { events: [...EVENTS, 'incident.acknowledged'] }),
      pager('chn_other_pager', { events: [...EVENTS] }),
    )
    notifier.state.reply = ({ url }) => ({ status: String(url).startsWith(events) ? 202 : 200, body: 'ok' })
    const all = refunds(notifier, 15)
    const alertsOf = (one: (typeof all)[number], what: 'acknowledged' | 'resolved') => ({
      ...incidentAlerts(one.data.incident.incident_id)[what],
      data: { incident: { ...one.data.incident, state: what }, action: one.data.action },
    })
    await notifier.publish(...all)
    await notifier.clock.advance(waitMs)
    const before = reportsTo(notifier, 'chn_pager').length
    const since = (id: string) => reportsTo(notifier, id).slice(before)
    await notifier.publish(...all.slice(1).map(one => alertsOf(one, 'acknowledged')))
    await notifier.clock.advance(10_000)
    expect(since('chn_pager')).toEqual([])
    await notifier.publish(...all.slice(0, 1).map(one => alertsOf(one, 'acknowledged')))
    await notifier.clock.advance(10_000)
    expect(since('chn_pager')).toMatchObject([{ cause: 'acknowledged', count: 15, resolved: 0, unacknowledged: 0 }])
    // These channels did not choose incident.acknowledged.
    for (const id of ['chn_other_pager', 'chn_mail', 'chn_slack']) expect(since(id)).toEqual([])
    // A repeated message reports nothing again.
    await notifier.publish(...all.map(one => alertsOf(one, 'acknowledged')))
    await notifier.clock.advance(20 * MINUTE)
    await notifier.publish(...all.map(one => alertsOf(one, 'resolved')))
    await notifier.clock.advance(20 * MINUTE)
    const [storm] = notifier.collections.storms.values()
    const sent = notifier.requests.filter(({ url }) => String(url).startsWith(events)).map(({ body }) => String(body))
    const actions = sent.map(body => JSON.parse(body)).filter(event => event.dedup_key === storm?._id)
    const named = Object.groupBy(actions, ({ event_action }) => event_action)
    // The report about the end of a storm that was open comes after the acknowledgement, for both channels.
    expect(Object.keys(named).sort()).toEqual(['acknowledge', 'resolve', 'trigger'])
    expect(named.resolve).toHaveLength(2)
    expect(named.acknowledge).toHaveLength(waitMs === 2 * MINUTE ? 3 : 1)
  },
)

test('an action that joins an acknowledged storm is reported as unacknowledged', async () => {
  const notifier = await startNotifier(
    slackChannel('chn_ack', `${HOOK}ack`, { events: [...EVENTS, 'incident.acknowledged'] }),
  )
  const all = refunds(notifier, 15)
  await notifier.publish(...all)
  await notifier.clock.advance(10_000)
  await notifier.publish(...all.map(one => incidentAlerts(one.data.incident.incident_id).acknowledged))
  await notifier.clock.advance(10_000)
  await notifier.publish(...refunds(notifier, 2, { first: 100 }))
  await notifier.clock.advance(2 * MINUTE)
  expect(reportsTo(notifier, 'chn_ack').map(({ cause, unacknowledged }) => [cause, unacknowledged])).toEqual([
    ['new_actions', 15],
    ['acknowledged', 0],
    ['new_actions', 2],
  ])
})

test('storms of two connections are apart, and the alerts of other projects are as before', async () => {
  const other = 'prj_other'
  const notifier = await startNotifier(...channels({ project_id: other }, 'chn_other'))
  const interleaved = refunds(notifier, 20).flatMap((one, index) => [
    one,
    ...refunds(notifier, 1, { first: index, connection: 'con_2' }),
  ])
  const elsewhere = Array.from({ length: 5 }, (_, index) =>
    alert({ id: `alr_other_${index}`, project: other, incident: { connection_id: 'con_other' } }),
  )
  await notifier.publish(...interleaved, ...elsewhere)
  await notifier.clock.advance(20 * MINUTE)
  expect([...notifier.collections.storms.values()].map(one => one.connection_id).sort()).toEqual(['con_1', 'con_2'])
  const ended = reportsTo(notifier, 'chn_mail').filter(({ state }) => state === 'ended')
  expect(ended.map(({ connection_id, count }) => ({ connection_id, count }))).toEqual(
    expect.arrayContaining([
      { connection_id: 'con_1', count: 20 },
      { connection_id: 'con_2', count: 20 },
    ]),
  )
  expect(openedTo(notifier, 'chn_other_mail')).toHaveLength(5)
  expect(reportsTo(notifier, 'chn_other_mail')).toEqual([])
})

test('a silence that begins during a storm does not hide the actions before it', async () => {
  const notifier = await startNotifier()
  const all = refunds(notifier, 40)
  await notifier.publish(...all)
  await notifier.clock.advance(100)
  const now = notifier.clock.now()
  notifier.collections.silences.set('sil_1', {
    _id: 'sil_1',
    project_id: PROJECT,
    connection_id: 'con_1',
    reason: 'Looking into it',
    created_by: 'key_1',
    created_at: new Date(now + 1_000),
    ends_at: new Date(now + 60 * MINUTE),
    ended_by: null,
  })
  await notifier.clock.advance(2_000)
  await notifier.publish(...refunds(notifier, 5, { first: 100 }))
  await notifier.clock.advance(20 * MINUTE)
  expect(reportsTo(notifier, 'chn_mail').at(-1)).toMatchObject({ state: 'ended', count: 40 })
})

test('a report that waits for its retry is not sent after a later report', async () => {
  const notifier = await startNotifier()
  const isFirst = (body: unknown) => String(body).includes('A few summaries follow instead')
  notifier.state.reply = ({ body }) => ({ status: isFirst(body) ? 500 : 200, body: 'ok' })
  await notifier.publish(...refunds(notifier, 15))
  await notifier.clock.advance(10_000)
  const [storm] = notifier.collections.storms.values()
  const deliveryOf = (report: number) => notifier.deliveryOf(stormAlertId(storm?._id ?? '', report), 'chn_slack')
  expect(deliveryOf(1)?.state).toBe('retrying')
  await notifier.clock.advance(10 * MINUTE)
  expect(reportsTo(notifier, 'chn_slack').map(({ state }) => state)).toEqual(['ended'])
  expect(deliveryOf(1)).toMatchObject({ state: 'superseded', told_by: deliveryOf(2)?._id })
  notifier.state.reply = () => ({ status: 200, body: 'ok' })
  notifier.requests.length = 0
  await notifier.clock.advance(30 * MINUTE)
  expect(notifier.requests).toEqual([])
})

test('a second storm of a connection begins after nine messages again', async () => {
  const notifier = await startNotifier()
  await notifier.publish(...refunds(notifier, 15))
  await notifier.clock.advance(20 * MINUTE)
  await notifier.publish(...refunds(notifier, 15, { first: 100 }))
  await notifier.clock.advance(20 * MINUTE)
  expect(notifier.collections.storms.size).toBe(2)
  expect(openedTo(notifier, 'chn_mail')).toHaveLength(18)
  expect(reportsTo(notifier, 'chn_mail').filter(({ state }) => state === 'ended')).toHaveLength(2)
})

test('an action that is alerted a second time counts once, and is resolved when both incidents are', async () => {
  const notifier = await startNotifier()
  const all = refunds(notifier, 15)
  const [first] = all
  if (first === undefined) throw new Error('There is no first refund')
  const incident = { ...first.data.incident, incident_id: 'inc_second' }
  const again = { ...first, alert_id: 'alr_second', data: { ...first.data, incident } }
  const resolvedOf = (one: typeof first) => ({
    ...incidentAlerts(one.data.incident.incident_id).resolved,
    data: {
      incident: { ...one.data.incident, state: 'resolved' as const, resolved_by: 'op_1' },
      action: { ...one.data.action, verdict: 'explained' as const },
    },
  })
  await notifier.publish(...all)
  await notifier.publish(...all.map(resolvedOf), again)
  await notifier.clock.advance(20 * MINUTE)
  const last = () => reportsTo(notifier, 'chn_mail').at(-1)
  expect(last()).toMatchObject({ state: 'ended', count: 15, resolved: 14, money: [{ count: 15, amount: 1_605 }] })
  await notifier.publish(resolvedOf(again))
  await notifier.clock.advance(MINUTE)
  expect(last()).toMatchObject({ state: 'ended', count: 15, resolved: 15 })
})

test('a batch that is fanned out again produces no further message and counts nobody twice', async () => {
  const notifier = await startNotifier()
  const all = refunds(notifier, 40)
  await notifier.publish(...all)
  await notifier.publish(...all)
  await notifier.clock.advance(2 * MINUTE)
  await notifier.publish(...all)
  await notifier.clock.advance(20 * MINUTE)
  await notifier.publish(...all)
  await notifier.clock.advance(20 * MINUTE)
  expect(openedTo(notifier, 'chn_mail')).toHaveLength(9)
  expect(notifier.collections.storms.size).toBe(1)
  const reports = reportsTo(notifier, 'chn_mail')
  expect(reports.filter(({ state }) => state === 'ended')).toHaveLength(1)
  for (const { count } of reports) expect(count).toBe(40)
})

test('a report has the id that its storm and number give it', async () => {
  const notifier = await startNotifier()
  await notifier.publish(...refunds(notifier, 10))
  await notifier.clock.advance(10_000)
  const [storm] = notifier.collections.storms.values()
  expect(notifier.deliveryOf(stormAlertId(storm?._id ?? '', 1), 'chn_mail')?.state).toBe('delivered')
})

test('a member whose incident is opened again is not resolved any more, until it is resolved again', async () => {
  const notifier = await startNotifier(
    pagerDutyChannel('chn_pager', 'https://events.pagerduty.com/v2/enqueue', '0'.repeat(32)),
  )
  const all = refunds(notifier, 15)
  const [first] = all
  if (first === undefined) throw new Error('There is no refund')
  const id = first.data.incident.incident_id
  const resolved = {
    ...incidentAlerts(id).resolved,
    data: { ...first.data, incident: { ...first.data.incident, state: 'resolved' as const, resolved_by: 'Ann' } },
  }
  const again = {
    ...first,
    alert_id: `${first.alert_id}_again`,
    data: { ...first.data, incident: { ...first.data.incident, reopened: 1 } },
  }
  const member = () => notifier.collections.stormMembers.get(id)
  await notifier.publish(...all, resolved)
  await notifier.clock.advance(MINUTE)
  expect(member()?.resolved_at).not.toBeNull()
  await notifier.publish(again)
  await notifier.clock.advance(MINUTE)
  expect(member()).toMatchObject({ resolved_at: null, explained: false })
  await notifier.publish({ ...resolved, alert_id: `${resolved.alert_id}_again` })
  await notifier.clock.advance(MINUTE)
  expect(member()?.resolved_at).not.toBeNull()
})

test('a canary that makes sixty refunds is at most twenty messages for people, and sixty for programs', async () => {
  const notifier = await startNotifier()
  const used = refunds(notifier, 60, { everyMs: 40 }).map(
    one => ({ ...one, data: { ...one.data, incident: { ...one.data.incident, code: 'CANARY_USED' } } }) as Alert,
  )
  await notifier.publish(...used)
  await notifier.clock.advance(10 * MINUTE)
  for (const id of ['chn_slack', 'chn_mail']) {
    expect(openedTo(notifier, id)).toHaveLength(9)
    expect(deliveredTo(notifier, id).length).toBeLessThanOrEqual(20)
    expect(reportsTo(notifier, id).at(-1)).toMatchObject({ count: 60 })
  }
  expect(openedTo(notifier, 'chn_hook')).toHaveLength(60)
})

test('a report names the actor of most actions, as long as they have it', async () => {
  const notifier = await startNotifier()
  notifier.collections.actors.set('acr_1', { _id: 'acr_1', project_id: PROJECT, name: 'Support tool' })
  const origin = { channel: 'api', key_name: 'desk', user: null, request_id: null, idempotency_key: null } as const
  const made = refunds(notifier, 30).map(one => ({
    ...one,
    data: { ...one.data, action: { ...one.data.action, origin } },
  }))
  const named = made.map(one => ({ ...one, data: { ...one.data, action: { ...one.data.action, actor_id: 'acr_1' } } }))
  const store = (alerts: typeof made) => {
    for (const { data } of alerts) notifier.collections.actions.set(data.action.action_id, data.action)
  }
  store(named)
  await notifier.publish(...made.slice(0, 1), ...named.slice(1))
  await notifier.clock.advance(MINUTE)
  store(made)
  await notifier.clock.advance(20 * MINUTE)
  const [first, last] = [reportsTo(notifier, 'chn_mail')[0], reportsTo(notifier, 'chn_mail').at(-1)]
  expect(first?.common.actor).toEqual({ value: 'acr_1', kind: 'api_key', name: 'Support tool', count: 29 })
  expect(last?.common.actor).toBeNull()
  const ofSlack = notifier.requests.map(({ body }) => String(body)).filter(body => body.includes('29 of 30 were'))
  expect(ofSlack).toEqual([expect.stringContaining('29 of 30 were made by Support tool (API key \\"desk\\")')])
})
