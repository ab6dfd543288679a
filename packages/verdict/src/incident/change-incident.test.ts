import type { LifeCycleChange } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  contextAt,
  look,
  lookAll,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  refundSeen,
  secondLooks,
  T0,
  unexpectedActionIncident,
} from '../../test/fixtures.ts'
import type { Case } from '../case/case.ts'
import { decide } from '../decide/decide.ts'
import { projectActions, projectIncidents } from '../show/projection.ts'
import { decideInCase } from './change-incident.ts'
import type { ChangeIncident } from './life-cycle.ts'

const NOW = T0 + 5 * MINUTE
const ANN = { kind: 'person', id: 'per_ann', name: 'Ann' } as const
const BOB = { kind: 'api_key', id: 'key_bob', name: 'Bob' } as const
const unexplained = lookAll(play([{ at: T0, input: refundSeen() }]))
const incidentId = onlyAction(unexplained).incidents[0]?.id ?? ''

const command = (id: string, change: LifeCycleChange, more: Partial<ChangeIncident> = {}): ChangeIncident => ({
  kind: 'change_incident',
  command_id: id,
  project_id: unexplained.projectId,
  requested_at: new Date(NOW).toISOString(),
  incident_id: incidentId,
  change,
  actor: ANN,
  ...more,
})
const resolve = { kind: 'resolve', reason: 'provider_mistake', note: 'Ticket 7' } as const
const apply = (theCase: Case, ...commands: ChangeIncident[]) =>
  commands.reduce((next, one) => decide(next, { kind: 'change_incident', command: one }, contextAt(NOW)), theCase)
const incidentOf = (theCase: Case) => unexpectedActionIncident(onlyAction(theCase))
const shownIncident = (theCase: Case) => projectIncidents(theCase)[0]?.incident

describe('the life cycle of an incident', () => {
  const acknowledged = apply(unexplained, command('c1', { kind: 'acknowledge' }))
  const resolved = apply(acknowledged, command('c2', resolve, { actor: BOB }))

  test('shows who acknowledged and resolved it, when and why, and raises an alert for each', () => {
    expect(shownIncident(resolved)).toMatchObject({
      state: 'resolved',
      acknowledged_at: new Date(NOW).toISOString(),
      acknowledged_by: 'Ann',
      resolved_at: new Date(NOW).toISOString(),
      resolved_by: 'Bob',
      reason: 'provider_mistake',
      note: 'Ticket 7',
      reopened: 0,
    })
    expect(alertsOf(resolved)).toEqual(['incident.opened', 'incident.acknowledged', 'incident.resolved'])
    const timeline = projectActions(resolved)[0]?.action.timeline ?? []
    expect(timeline.slice(-2)).toMatchObject([
      { what: 'incident_acknowledged', text: 'Acknowledged by Ann', by: ANN },
      { what: 'incident_resolved', text: 'Resolved by Bob: a mistake of the provider. Ticket 7', by: BOB },
    ])
    expect(timeline[0]).not.toHaveProperty('command_id')
  })

  test('does not change by a repeated command, and sends nothing twice', () => {
    expect(apply(resolved, command('c1', { kind: 'acknowledge' }), command('c2', resolve))).toEqual(resolved)
    expect(decideInCase(resolved, command('c2', resolve), NOW)).toEqual({ kind: 'repeated' })
  })

  test('refuses the second of two people, and names the first', () => {
    expect(decideInCase(acknowledged, command('c3', { kind: 'acknowledge' }, { actor: BOB }), NOW)).toEqual({
      kind: 'refused',
      reason: 'state',
      text: `The incident was acknowledged by Ann at ${new Date(NOW).toISOString()}`,
    })
    expect(decideInCase(resolved, command('c3', resolve), NOW)).toMatchObject({
      reason: 'state',
      text: expect.stringContaining('Resolved by Bob'),
    })
    expect(apply(resolved, command('c3', { kind: 'acknowledge' }))).toEqual(resolved)
  })

  test('refuses a change of another version, also if an earlier change is in the same batch', () => {
    const expected_version = shownIncident(unexplained)?.version
    const first = command('c1', { kind: 'assign', assignee: 'Ann' }, { expected_version })
    const assigned = apply({ ...unexplained, version: unexplained.version + 1 }, first)
    expect(incidentOf(assigned)?.lifeCycle?.assignee).toBe('Ann')
    expect(decideInCase(assigned, command('c2', resolve, { expected_version }), NOW)).toMatchObject({
      kind: 'refused',
      reason: 'version',
      text: expect.stringContaining('Ann assigned it to Ann'),
    })
  })

  test('opens it again with alerts of their own', () => {
    const again = apply(resolved, command('c3', { kind: 'reopen' }))
    expect(shownIncident(again)).toMatchObject({
      state: 'open',
      acknowledged_by: null,
      resolved_at: null,
      resolved_by: null,
      reason: null,
      reopened: 1,
    })
    const twice = apply(again, command('c4', { kind: 'acknowledge' }), command('c5', resolve))
    const ids = twice.outbox.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(alertsOf(twice).slice(-3)).toEqual(['incident.opened', 'incident.acknowledged', 'incident.resolved'])
    expect(decideInCase(again, command('c6', { kind: 'reopen' }), NOW)).toMatchObject({ kind: 'refused' })
  })

  test('keeps comments and the assignee in every state, without an alert', () => {
    const comment = { kind: 'comment', text: 'Called the bank' } as const
    const next = apply(resolved, command('c3', comment), command('c4', { kind: 'assign', assignee: 'Payments' }))
    expect(shownIncident(next)).toMatchObject({ state: 'resolved', assignee: 'Payments', reason: 'provider_mistake' })
    expect(alertsOf(next)).toEqual(alertsOf(resolved))
    expect(
      incidentOf(next)
        ?.lifeCycle?.changes.map(({ text }) => text)
        .slice(-2),
    ).toEqual(['Ann: Called the bank', 'Ann assigned it to Payments'])
  })

  test('records no more than 100 changes, and can still be resolved', () => {
    const comments = Array.from({ length: 101 }, (_, n) => command(`c${n}`, { kind: 'comment', text: 'x' }))
    const full = apply(unexplained, ...comments)
    expect(incidentOf(full)?.lifeCycle?.changes).toHaveLength(100)
    expect(decideInCase(full, command('more', { kind: 'comment', text: 'x' }), NOW)).toMatchObject({ reason: 'full' })
    expect(incidentOf(apply(full, command('end', resolve)))?.state).toBe('resolved')
  })
})

describe('an incident that a person resolved', () => {
  const resolved = apply(unexplained, command('c1', resolve))

  test('is not resolved again by a later explanation, which the action shows', () => {
    const explained = decide(resolved, operationSeen({ provider_ref: 're_1' }), contextAt(NOW))
    expect(onlyAction(explained)).toMatchObject({ verdict: 'explained', operationId: 'op_1' })
    expect(incidentOf(explained)).toMatchObject({ state: 'resolved', resolvedBy: 'Ann' })
    expect(alertsOf(explained)).toEqual(alertsOf(resolved))
    expect(decideInCase(explained, command('c2', { kind: 'reopen' }), NOW)).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('explained by operation op_1'),
    })
  })

  test('stays resolved when the explanation is lost and the action is looked at again', () => {
    const explained = decide(resolved, operationSeen({ provider_ref: 're_1' }), contextAt(NOW))
    const lost = decide(explained, operationSeen({ provider_ref: 're_2', version: 2 }), contextAt(NOW))
    const [pending] = secondLooks(lost)
    if (pending === undefined) throw new Error('There is no second look')
    const again = decide(lost, look(pending), contextAt(pending.dueAt))
    expect(onlyAction(again)).toMatchObject({ verdict: 'unexplained' })
    expect(onlyAction(again).incidents).toHaveLength(1)
    expect(alertsOf(again)).toEqual(alertsOf(resolved))
  })
})

test('an acknowledged incident is resolved by an explanation, and keeps who acknowledged it', () => {
  const acknowledged = apply(unexplained, command('c1', { kind: 'acknowledge' }))
  const explained = decide(acknowledged, operationSeen({ provider_ref: 're_1' }), contextAt(NOW))
  expect(shownIncident(explained)).toMatchObject({
    state: 'resolved',
    acknowledged_by: 'Ann',
    resolved_by: 'op_1',
    reason: null,
  })
})
