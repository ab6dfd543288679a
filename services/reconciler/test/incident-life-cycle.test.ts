/** Changes of incidents by people, as commands to the whole reconciler in memory. */
import type { Command, LifeCycleChange } from '@backstop/contracts'
import { createFixedCodec } from '@backstop/kit/test'
import { openRequestedIncident } from '@backstop/verdict'
import { expectedChangeDocument, MINUTE, PROJECT, SECOND } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

const ANN = { kind: 'person', id: 'per_ann', name: 'Ann' } as const
const BOB = { kind: 'person', id: 'per_bob', name: 'Bob' } as const
type ChangeIncident = Extract<Command, { kind: 'change_incident' }>

async function reconcilerWithIncident() {
  const reconciler = await startMemoryReconciler('con_1', () => ({}), { created_at: new Date(0) })
  const { clock, contents, publish } = reconciler
  await clock.advance(MINUTE)
  const created = Math.floor(clock.now() / SECOND)
  const refund = { id: 're_1', object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
  const event = {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_1',
    event_id: 'evt_1',
    event_type: 'refund.created',
    received_at: new Date(clock.now()).toISOString(),
    body: {
      ...{ id: 'evt_1', object: 'event', type: 'refund.created', created, livemode: true },
      data: { object: { ...refund, status: 'succeeded', created } },
    },
  } as const
  await publish([createFixedCodec().encode('inbound-event', event)])
  for (let passed = 0; passed < 3; passed += 1) await clock.advance(MINUTE)
  const [incident] = [...contents.incidents.values()]
  const incident_id = incident?.incident_id ?? ''
  const change = (id: string, wish: LifeCycleChange, more: Partial<ChangeIncident> = {}): ChangeIncident => ({
    kind: 'change_incident',
    command_id: id,
    project_id: PROJECT,
    requested_at: new Date(clock.now()).toISOString(),
    incident_id,
    change: wish,
    actor: ANN,
    ...more,
  })
  const send = async (...commands: ChangeIncident[]) => {
    await reconciler.command(commands)
    await clock.advance(SECOND)
  }
  const outcome = (id: string) => contents.incidentOutcomes.get(id)
  const shown = (id = incident_id) => contents.incidents.get(id)
  return { ...reconciler, incidentId: incident_id, change, send, outcome, shown }
}

test('two people who acknowledge at once: one does, the other is told who was first, and one alert is raised', async () => {
  const { change, send, outcome, shown, alerts, stop } = await reconcilerWithIncident()
  await send(change('c1', { kind: 'acknowledge' }), change('c2', { kind: 'acknowledge' }, { actor: BOB }))
  expect(outcome('c1')).toMatchObject({ outcome: 'changed', reason: null })
  expect(outcome('c2')).toMatchObject({
    outcome: 'refused',
    reason: 'state',
    detail: expect.stringContaining('acknowledged by Ann at '),
  })
  expect(shown()).toMatchObject({ state: 'acknowledged', acknowledged_by: 'Ann' })
  expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened', 'incident.acknowledged'])
  await stop()
})

test('an incident says when the provider made its action, before and after a change', async () => {
  const { change, send, shown, contents, stop } = await reconcilerWithIncident()
  const [action] = [...contents.actions.values()]
  const { provider_created_at } = action ?? {}
  expect(provider_created_at).toBeDefined()
  expect(shown()).toMatchObject({ state: 'open', provider_created_at })
  await send(change('c1', { kind: 'acknowledge' }))
  expect(shown()).toMatchObject({ state: 'acknowledged', provider_created_at })
  await stop()
})

test('a repeated command changes nothing, and its outcome stays', async () => {
  const { change, send, outcome, shown, alerts, stop } = await reconcilerWithIncident()
  const resolve = change('c1', { kind: 'resolve', reason: 'duplicate', note: null })
  await send(resolve)
  const before = [outcome('c1'), shown()]
  await send(resolve, resolve)
  expect([outcome('c1'), shown()]).toEqual(before)
  expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened', 'incident.resolved'])
  await stop()
})

test('an incident without an action has the same life cycle, and its messages keep their order', async () => {
  const { change, send, outcome, shown, alerts, clock, contents, stop } = await reconcilerWithIncident()
  const { incident } = openRequestedIncident(
    {
      kind: 'open_channel_incident',
      command_id: 'open',
      project_id: PROJECT,
      requested_at: new Date(clock.now()).toISOString(),
      incident_id: 'inc_channel',
      channel_id: 'chn_1',
      channel_name: 'Ops',
      reason: 'It answers 500',
    },
    clock.now(),
  )
  contents.incidents.set('inc_channel', incident)
  const about = { incident_id: 'inc_channel' }
  await send(
    change('c1', { kind: 'acknowledge' }, about),
    change('c2', { kind: 'resolve', reason: 'other', note: 'Switched off on purpose' }, about),
    change('c3', { kind: 'resolve', reason: 'other', note: null }, { ...about, actor: BOB }),
    change('c4', { kind: 'reopen' }, about),
  )
  expect(['c1', 'c2', 'c3', 'c4'].map(id => outcome(id)?.outcome)).toEqual(['changed', 'changed', 'refused', 'changed'])
  expect(outcome('c3')?.detail).toContain('Resolved by Ann')
  expect(shown('inc_channel')).toMatchObject({ state: 'open', reopened: 1, version: 4, resolved_by: null })
  const sent = (await alerts()).filter(({ data }) => 'incident' in data && data.incident.incident_id === 'inc_channel')
  expect(sent.map(({ event }) => event)).toEqual(['incident.acknowledged', 'incident.resolved', 'incident.opened'])
  expect(sent[1]).toMatchObject({ data: { incident: { reason: 'other', note: 'Switched off on purpose' } } })
  await stop()
})

test('a change of an unknown incident, or of another project, is refused and changes nothing', async () => {
  const { change, send, outcome, shown, stop } = await reconcilerWithIncident()
  await send(
    change('c1', { kind: 'acknowledge' }, { incident_id: 'inc_none' }),
    change('c2', { kind: 'acknowledge' }, { project_id: 'prj_other' }),
  )
  expect([outcome('c1'), outcome('c2')]).toMatchObject([{ reason: 'unknown' }, { reason: 'unknown' }])
  expect(shown()).toMatchObject({ state: 'open' })
  await stop()
})

test('our own change: incident.resolved names the person, and an expected change explains exactly its action, without another alert', async () => {
  const { incidentId, change, send, shown, alerts, contents, stop } = await reconcilerWithIncident()
  await send(change('c1', { kind: 'resolve', reason: 'our_own_change', note: 'Goodwill' }))
  expect(shown()).toMatchObject({ state: 'resolved', resolved_by: 'Ann', reason: 'our_own_change', note: 'Goodwill' })
  expect([...contents.actions.values()]).toMatchObject([{ verdict: 'explained', reason: 'expected_change_matches' }])
  expect(contents.expectedChanges).toMatchObject([
    {
      incident_id: incidentId,
      connection_id: 'con_1',
      kind: 'refund',
      subject: 'pi_1',
      amount: 2499,
      currency: 'eur',
      max_changes: 1,
      note: 'Goodwill',
      created_by: 'per_ann',
    },
  ])
  const sent = await alerts()
  expect(sent.map(({ event }) => event)).toEqual(['incident.opened', 'incident.resolved'])
  expect(sent[1]).toMatchObject({ data: { incident: { resolved_by: 'Ann', reason: 'our_own_change' } } })
  await stop()
})

test.each([
  { name: 'of the incident', filter: {} },
  { name: 'of its connection', filter: { connection_id: 'con_1' } },
])('our own change explains the action if a bulk change $name resolves it', async ({ filter }) => {
  const { shown, contents, clock, command, stop } = await reconcilerWithIncident()
  const requested_at = new Date(clock.now()).toISOString()
  await command([
    {
      kind: 'change_incidents',
      command_id: 'bulk',
      project_id: PROJECT,
      requested_at,
      bulk_id: 'blk_1',
      selection: { ...filter, states: ['open'], to: requested_at },
      change: { kind: 'resolve', reason: 'our_own_change', note: null },
      actor: ANN,
    },
  ])
  await clock.advance(MINUTE)
  expect(shown()).toMatchObject({ state: 'resolved', resolved_by: 'Ann', reason: 'our_own_change' })
  expect([...contents.actions.values()]).toMatchObject([{ verdict: 'explained', reason: 'expected_change_matches' }])
  await stop()
})

test('our own change explains nothing if another person resolved the incident with another reason before', async () => {
  const { change, send, outcome, contents, clock, stop } = await reconcilerWithIncident()
  await send(change('c1', { kind: 'resolve', reason: 'fraud_or_leaked_key', note: null }))
  await send(change('c2', { kind: 'resolve', reason: 'our_own_change', note: null }, { actor: BOB }))
  expect(outcome('c2')).toMatchObject({ outcome: 'refused' })
  await clock.advance(5 * MINUTE)
  expect(contents.expectedChanges).toEqual([])
  expect([...contents.actions.values()]).toMatchObject([{ verdict: 'unexplained' }])
  await stop()
})

test('the expected change of an incident does not explain its action while the incident is open', async () => {
  const { incidentId, change, send, shown, contents, clock, stop } = await reconcilerWithIncident()
  const lasting = { starts_at: new Date(0), expires_at: new Date(clock.now() + MINUTE) }
  contents.expectedChanges.push(expectedChangeDocument('exp_own', { incident_id: incidentId, ...lasting }))
  await clock.advance(5 * MINUTE)
  expect(shown()).toMatchObject({ state: 'open' })
  await send(change('c1', { kind: 'resolve', reason: 'duplicate', note: null }))
  await clock.advance(5 * MINUTE)
  expect([...contents.actions.values()]).toMatchObject([{ verdict: 'unexplained' }])
  await stop()
})

test('a bulk change changes the selected incidents once, and the deletion of their connection resolves the open ones', async () => {
  const { change, send, shown, alerts, contents, clock, command, stop } = await reconcilerWithIncident()
  const known = shown()
  if (known === undefined) throw new Error('There is no incident')
  const bulk: Command = {
    kind: 'change_incidents',
    command_id: 'cmd_bulk',
    bulk_id: 'blk_1',
    project_id: PROJECT,
    requested_at: new Date(clock.now()).toISOString(),
    selection: { states: ['open'], to: new Date(clock.now()).toISOString() },
    change: { kind: 'acknowledge' },
    actor: BOB,
  }
  await command([bulk, bulk])
  await clock.advance(5 * SECOND)
  expect(shown()).toMatchObject({ state: 'acknowledged', acknowledged_by: 'Bob' })
  await send(change('c1', { kind: 'comment', text: 'The account is closed' }))
  const connection = contents.connections.get('con_1')
  if (connection === undefined) throw new Error('There is no connection')
  contents.connections.set('con_1', { ...connection, status: 'deleted', deleted_at: new Date(clock.now()) })
  await clock.advance(5 * SECOND)
  expect(shown()).toMatchObject({
    state: 'resolved',
    reason: 'connection_deleted',
    resolved_by: 'Backstop',
    resolution: 'Resolved by Backstop: the connection was deleted',
  })
  await clock.advance(MINUTE)
  const events = (await alerts()).map(({ event }) => event)
  expect(events).toEqual(['incident.opened', 'incident.acknowledged', 'incident.resolved'])
  await stop()
})

test('a refused command that is delivered again stays refused, although the incident would allow it now', async () => {
  const { change, send, outcome, shown, stop } = await reconcilerWithIncident()
  const late = change('c2', { kind: 'resolve', reason: 'our_own_change', note: null }, { actor: BOB })
  await send(change('c1', { kind: 'resolve', reason: 'fraud_or_leaked_key', note: null }), late)
  await send(change('c3', { kind: 'reopen' }))
  await send(late)
  expect(outcome('c2')).toMatchObject({ outcome: 'refused', detail: expect.stringContaining('Resolved by Ann') })
  expect(shown()).toMatchObject({ state: 'open', reason: null })
  await stop()
})

test('an incident without an action that ended by itself is not opened again, alone or by a bulk change', async () => {
  const { change, send, outcome, shown, clock, contents, command, stop } = await reconcilerWithIncident()
  const { incident } = openRequestedIncident(
    {
      kind: 'open_channel_incident',
      command_id: 'open',
      project_id: PROJECT,
      requested_at: new Date(clock.now()).toISOString(),
      incident_id: 'inc_channel',
      channel_id: 'chn_1',
      channel_name: 'Ops',
      reason: 'It answers 500',
    },
    clock.now(),
  )
  contents.incidents.set('inc_channel', {
    ...incident,
    state: 'resolved',
    resolved_at: new Date(clock.now()).toISOString(),
    resolved_by: 'chn_1',
  })
  await send(change('c1', { kind: 'reopen' }, { incident_id: 'inc_channel' }))
  expect(outcome('c1')).toMatchObject({ outcome: 'refused', reason: 'state' })
  await send(change('c2', { kind: 'resolve', reason: 'duplicate', note: null }))
  await command([
    {
      kind: 'change_incidents',
      command_id: 'cmd_bulk',
      bulk_id: 'blk_1',
      project_id: PROJECT,
      requested_at: new Date(clock.now()).toISOString(),
      selection: { states: ['resolved'], to: new Date(clock.now()).toISOString() },
      change: { kind: 'reopen' },
      actor: BOB,
    },
  ])
  await clock.advance(5 * SECOND)
  expect(shown('inc_channel')).toMatchObject({ state: 'resolved', version: 1 })
  expect(shown()).toMatchObject({ state: 'open', reopened: 1 })
  expect(contents.incidentOutcomes.size).toBe(3)
  await stop()
})
