/** Commands, pauses, digests and order on real Kafka, MongoDB and HTTP. */

import { alert, emailChannel, incidentAlerts, slackChannel, webhookChannel } from '@backstop/channels/test'
import type { ChannelHealthDocument, ReplayDocument, SuppressionDocument } from '@backstop/contracts'
import { readAll, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRealNotifier } from './real-notifier.ts'

let notifier: Awaited<ReturnType<typeof startRealNotifier>>
beforeAll(async () => {
  notifier = await startRealNotifier()
})
afterAll(() => notifier?.stop())

const common = (project: string, name: string) => ({
  command_id: `cmd_${name}`,
  project_id: project,
  requested_at: new Date().toISOString(),
})
/** Each alert has its own connection, because many alerts of one connection are a storm. */
const alertsOf = (project: string, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const incident = { connection_id: `con_${project}_${index}`, storm_id: null }
    return alert({ id: `alr_${project}_${index}`, project, at: new Date().toISOString(), incident })
  })

test('a channel that was disabled is enabled by a command, and a replay brings its dead deliveries back', async () => {
  const project = 'prj_replay'
  const from = new Date(Date.now() - 1_000).toISOString()
  const endpoint = await notifier.receiver((_request, response) => void response.writeHead(410).end('gone'))
  await notifier.put(webhookChannel('chn_replay', endpoint.url, undefined, { project_id: project, name: 'Ops' }))
  const alerts = alertsOf(project, 30)
  await notifier.publish(...alerts)
  await until(
    'all are dead',
    async () => (await notifier.deliveries.countDocuments({ project_id: project, state: 'dead' })) === 30,
  )
  const health = notifier.db.collection<ChannelHealthDocument>('channel_health')
  const disabled = await health.findOne({ _id: 'chn_replay' })
  expect(disabled?.disabled_incident_id).toMatch(/^inc_/)

  endpoint.requests.length = 0
  endpoint.answer = (_request, response) => void response.writeHead(200).end('ok')
  await notifier.command({ ...common(project, 'enable'), kind: 'enable_channel', channel_id: 'chn_replay' })
  await until('it is enabled', async () => (await health.findOne({ _id: 'chn_replay' }))?.disabled_at === null)
  const requested = {
    ...common(project, 'replay'),
    kind: 'replay_deliveries',
    replay_id: 'rpl_1',
    channel_id: 'chn_replay',
    from,
    to: new Date(Date.now() + 1_000).toISOString(),
  } as const
  await notifier.command(requested, requested)
  for (const one of alerts) await notifier.ended(one.alert_id, 'chn_replay', 'delivered')
  const replay = await until('the replay is done', async () => {
    const found = await notifier.db.collection<ReplayDocument>('replays').findOne({ _id: 'rpl_1' })
    return found?.state === 'done' && found
  })
  expect(replay).toMatchObject({ total: 30, requeued: 30, finished_at: expect.any(Date) })
  expect(endpoint.requests).toHaveLength(30)
  const messages = await readAll(notifier.stack, 'commands', all => all.length >= 5)
  const commands = await Promise.all(messages.map(({ value }) => notifier.codec.decode('command', value)))
  const received = commands.filter(command => command.kind.endsWith('channel_incident'))
  expect(received).toMatchObject([
    { kind: 'open_channel_incident', incident_id: disabled?.disabled_incident_id, channel_name: 'Ops' },
    { kind: 'resolve_channel_incident', incident_id: disabled?.disabled_incident_id },
  ])
})

test('a manual retry attempts a delivery that waits on a delay line at once', async () => {
  const project = 'prj_retry'
  const endpoint = await notifier.receiver((_request, response) => {
    const isFirst = endpoint.requests.length === 1
    response.writeHead(isFirst ? 429 : 200, isFirst ? { 'retry-after': '3000' } : {}).end()
  })
  await notifier.put(webhookChannel('chn_retry', endpoint.url, undefined, { project_id: project }))
  const [one] = alertsOf(project, 1) as [ReturnType<typeof alert>]
  await notifier.publish(one)
  const waiting = await notifier.ended(one.alert_id, 'chn_retry', 'retrying')
  expect(waiting.next_attempt?.topic).toBe('deliveries.retry.1h')
  // The receiver asked for a pause, so the channel is paused. A manual retry ignores the pause.
  await notifier.command({ ...common(project, 'retry'), kind: 'retry_delivery', delivery_id: waiting._id })
  const delivered = await notifier.ended(one.alert_id, 'chn_retry', 'delivered')
  expect(delivered.attempts.map(row => [row.attempt, row.status])).toEqual([
    [1, 429],
    [2, 200],
  ])
})

test('a flood to Slack arrives as one message and digests, each naming what it folds', async () => {
  const project = 'prj_slack'
  const slack = await notifier.receiver()
  await notifier.put(slackChannel('chn_slack', `${slack.url}/services/T0/B0/x`, { project_id: project }))
  const alerts = alertsOf(project, 120)
  await notifier.publish(...alerts)
  for (const one of alerts) await notifier.ended(one.alert_id, 'chn_slack', 'delivered')
  expect(slack.requests.length).toBeLessThanOrEqual(6)
  const received = slack.requests.map(request => `${request.body}`).join('\n')
  expect(alerts.filter(one => !received.includes(`inc_${one.alert_id}`))).toEqual([])
  const gaps = slack.requests.slice(1).map((request, index) => request.atMs - slack.requests[index]!.atMs)
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(950)
  const folded = await notifier.deliveries.countDocuments({ project_id: project, told_by: { $exists: true } })
  expect(folded).toBeGreaterThan(100)
})

test('a resolve that overtakes its opening announces both; the opening ends as superseded', async () => {
  const project = 'prj_order'
  const endpoint = await notifier.receiver((_request, response) => {
    response.writeHead(endpoint.requests.length === 1 ? 500 : 200).end()
  })
  const events = ['incident.opened', 'incident.resolved'] as const
  await notifier.put(webhookChannel('chn_order', endpoint.url, undefined, { project_id: project, events: [...events] }))
  const { opened, resolved } = incidentAlerts('inc_order', { project })
  await notifier.publish(opened)
  await notifier.ended(opened.alert_id, 'chn_order', 'retrying')
  await notifier.publish(resolved)
  const received = await notifier.ended(resolved.alert_id, 'chn_order', 'delivered')
  const superseded = await notifier.ended(opened.alert_id, 'chn_order', 'superseded')
  expect(superseded).toMatchObject({ told_by: received._id, next_attempt: null, attempts: [{ status: 500 }] })
  const bodies = endpoint.requests.map(request => JSON.parse(`${request.body}`))
  expect(bodies.map(body => body.event)).toEqual(['incident.opened', 'incident.resolved'])
  expect(bodies[1].data).toMatchObject({ supersedes: opened.alert_id, incident: { state: 'resolved' } })
})

test('a failing endpoint is paused, and all messages arrive when it works again', async () => {
  const project = 'prj_breaker'
  let works = false
  const endpoint = await notifier.receiver((_request, response) => void response.writeHead(works ? 200 : 500).end())
  await notifier.put(webhookChannel('chn_breaker', endpoint.url, undefined, { project_id: project }))
  const alerts = alertsOf(project, 60)
  await notifier.publish(...alerts)
  await until('its breaker opens', () => endpoint.requests.length >= 5)
  works = true
  for (const one of alerts) await notifier.ended(one.alert_id, 'chn_breaker', 'delivered', 45_000)
  const failed = await notifier.deliveries.countDocuments({ project_id: project, 'attempts.status': 500 })
  expect(failed).toBeLessThanOrEqual(12)
})

test('addresses are suppressed and allowed again', async () => {
  const project = 'prj_mail'
  const of = (address: string, name: string) => ({ ...common(project, name), address })
  await notifier.command(
    { ...of('Gone@example.com', 's1'), kind: 'suppress_address', reason: 'hard_bounce', detail: '550 5.1.1' },
    { ...of('back@example.com', 's2'), kind: 'suppress_address', reason: 'manual', detail: null },
    { ...of('back@example.com', 's3'), kind: 'unsuppress_address' },
  )
  const kept = notifier.db.collection<SuppressionDocument>('suppressions')
  await until('it is suppressed', async () => (await kept.countDocuments({ project_id: project })) === 1)
  expect(await kept.findOne({ project_id: project })).toMatchObject({
    _id: `${project}/gone@example.com`,
    reason: 'hard_bounce',
    detail: '550 5.1.1',
  })
})

test('a mail channel whose last address unsubscribes is failing at once and asks for one incident', async () => {
  const project = 'prj_unreached'
  await notifier.put(emailChannel('chn_unreached', ['Only@Example.com'], { project_id: project, name: 'On call' }))
  const health = notifier.db.collection<ChannelHealthDocument>('channel_health')
  const commands = async () => {
    const messages = await readAll(notifier.stack, 'commands', all => all.length >= 1)
    const decoded = await Promise.all(messages.map(({ value }) => notifier.codec.decode('command', value)))
    return decoded.filter(one => 'channel_id' in one && one.channel_id === 'chn_unreached')
  }
  const address = 'only@example.com'
  const unsubscribed = { kind: 'suppress_address', address, reason: 'unsubscribed', detail: null } as const
  await notifier.command({ ...common(project, 'u1'), ...unsubscribed })
  await until('the incident', async () => (await commands()).length === 1)
  expect(await health.findOne({ _id: 'chn_unreached' })).toMatchObject({
    failing_incident_id: expect.stringMatching(/^inc_/),
    unreached: { reason: '1 address is suppressed (1 unsubscribed)' },
  })
  await notifier.command({ ...common(project, 'u2'), kind: 'unsuppress_address', address })
  await until('the end of the incident', async () => (await commands()).length === 2)
  expect(await commands()).toMatchObject([
    { kind: 'open_channel_incident', fault: 'failing', channel_name: 'On call' },
    { kind: 'resolve_channel_incident', outcome: 'cleared' },
  ])
})
