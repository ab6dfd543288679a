import { expect, test } from 'vitest'
import { PROPERTIES } from './judge.ts'
import { ERASED_AFTER_MS, PERSON_ERASED_AFTER_MS } from './properties/personal-data.ts'
import {
  action,
  alert,
  auditExport,
  deed,
  delivery,
  iso,
  judged,
  MINUTE,
  OTHER,
  OWN,
  opened,
  type Run,
  received,
  rightRun,
  T0,
  withAudit,
  withLists,
  withReceived,
  withStored,
} from './right-run.ts'

test('a run without a fault is right', () => {
  expect(judged(rightRun())).toEqual([])
})

const leakedKey = () => {
  const deeds = Array.from({ length: 10 }, (_, index) => deed(`re_leaked_${index}`))
  return { connectionId: 'con_processor', account: deeds[0]!.accounts[0]!, deeds }
}
const burstIncident = (incident_id: string, state = 'open') => ({
  ...{ incident_id, state, code: 'UNEXPLAINED_BURST', connection_id: 'con_processor', opened_at: iso(T0) },
  burst: { last_look_at: iso(T0 + MINUTE) },
})

const canaryIncident = (incident_id: string) => ({ incident_id, code: 'CANARY_USED', action_id: 'act_re_stranger' })

/** One wrong run for each property. */
const WRONG: Readonly<Record<string, (run: Run) => Run>> = {
  'no-fault-of-its-own': run => ({ ...run, truth: { ...run.truth, wrongs: ['reconciler-1 gave up'] } }),
  'unexplained-changes-alert': run => ({ ...run, truth: { ...run.truth, received: [] } }),
  'explained-changes-are-silent': run => withReceived(run, received(opened('re_reported'))),
  'alerts-are-about-changes': run => withReceived(run, received(opened('re_invented'))),
  'one-incident-for-each-change': run =>
    withReceived(run, received(alert('incident.opened', 're_stranger', { incidentId: 'inc_second' }))),
  'explanations-resolve': run => {
    const late = { reason: 'an operation', explains: true, begins: { fromMs: T0 + 2 * MINUTE, toMs: T0 + 2 * MINUTE } }
    run.truth.deeds[0]?.grounds.push(late)
    return run
  },
  'expected-changes-are-capped': run => {
    const begins = { fromMs: T0, toMs: T0 }
    const equal = [deed('re_1'), deed('re_2')].map(one => ({
      ...one,
      grounds: [{ reason: 'expected', explains: false, begins }],
    }))
    run.truth.deeds.push(...equal)
    run.truth.capped.push({ deeds: equal, covered: 1 })
    return run
  },
  'expected-changes-cover-what-they-state': run => {
    const grounds = [{ reason: 'expected', explains: false, begins: { fromMs: T0, toMs: T0 } }]
    const expected = deed('re_1', { grounds })
    run.truth.deeds.push(expected)
    run.truth.capped.push({ deeds: [expected], covered: 1 })
    return withLists(run, ({ actions }) => ({ actions: [...actions, action('re_1')] }))
  },
  'complete-periods-miss-nothing': run => {
    run.truth.deeds.push(deed('re_1', { mustAlert: false }))
    const window = { watched_from: iso(T0), complete_until: iso(T0 + MINUTE) }
    const connections = [{ provider: 'processor', answer: 'complete_so_far', ...window }]
    return withLists(run, () => ({ completeness: { connections } }))
  },
  'canaries-alert-at-once': run => {
    const role = { fromMs: T0 - MINUTE, toMs: T0 - MINUTE }
    run.truth.canaries.push({ projectId: OWN, role, refs: ['re_reported'] })
    return run
  },
  'only-canaries-alert-as-such': run =>
    withReceived(
      run,
      received(alert('incident.opened', 're_stranger', { data: { incident: canaryIncident('inc_1') } })),
    ),
  'one-incident-for-each-use-of-a-canary': run =>
    withLists(run, ({ incidents }) => ({
      incidents: [...incidents, canaryIncident('inc_1'), canaryIncident('inc_2')],
    })),
  'second-refunds-alert-once': run => {
    run.truth.doubled.push({ deeds: [deed('re_1'), deed('re_2')], hasRule: true })
    return run
  },
  'storms-are-few-messages': run => {
    const report = (number: number) => `Update ${number}. Reference: storm stm_1`
    run.truth.chats.push(...Array.from({ length: 21 }, (_, index) => ({ atMs: T0, host: 'chat', body: report(index) })))
    return run
  },
  'bursts-are-resolved-once': run => {
    const end = (time: string) => `Resolved: the burst of 12 refunds. Reference: incident inc_1. ${time}`
    run.truth.chats.push(...['10:00', '10:01'].map(time => ({ atMs: T0, host: 'chat', body: end(time) })))
    return run
  },
  'bursts-alert-in-time': run => {
    run.truth.leaked.push({ ...leakedKey(), hasAlarm: true })
    return run
  },
  'one-burst-at-a-time': run =>
    withLists(run, ({ incidents }) => ({
      incidents: [...incidents, burstIncident('inc_b1'), burstIncident('inc_b2')],
    })),
  'bursts-end': run => withLists(run, ({ incidents }) => ({ incidents: [...incidents, burstIncident('inc_b1')] })),
  'no-alert-before-its-second-look': run => {
    const [first] = run.truth.received.splice(0)
    return withReceived(run, { ...first!, atMs: T0 + MINUTE - 1 })
  },
  'alerts-in-time': run => {
    const [first] = run.truth.received.splice(0)
    return withReceived(run, { ...first!, atMs: T0 + 3 * MINUTE })
  },
  'one-delivery-for-each-alert': run => withReceived(run, received(opened(), { webhookId: 'dlv_second' })),
  'repeats-are-equal': run =>
    withReceived(run, received(alert('incident.opened', 're_stranger', { data: { note: 'changed' } }))),
  'repeats-follow-lost-answers': run => withReceived(run, received(opened())),
  'opened-before-resolved': run => withReceived(run, received(alert('incident.resolved', 're_other'))),
  'deliveries-end': run =>
    withLists(run, () => ({
      deliveries: [{ delivery_id: 'dlv_1', state: 'pending', attempts: [], next_attempt_at: iso(T0) }],
    })),
  'deliveries-are-listed': run => withLists(run, () => ({ deliveries: [] })),
  'attempts-are-listed-once': run =>
    withLists(run, () => ({ deliveries: [delivery({ attempts: [{ attempt: 1 }, { attempt: 1 }] })] })),
  'alerts-stay-in-their-project': run => withReceived(run, received(opened(), { channel: 'other.example' })),
  'one-action-for-each-change': run =>
    withLists(run, ({ actions }) => ({ actions: [...actions, action('re_stranger', { action_id: 'act_second' })] })),
  'lists-agree-with-alerts': run => withLists(run, () => ({ incidents: [] })),
  'changes-of-incidents-are-listed': run => {
    const at = { fromMs: T0, toMs: T0 }
    run.truth.interventions.push({ incidentId: 'inc_re_stranger', kind: 'acknowledge', at })
    return run
  },
  'accepted-events-are-recorded': run => withLists(run, () => ({ inbox: [] })),
  'unusable-events-are-dead-lettered': run => {
    run.truth.unusable.push('evt_1')
    return withLists(run, () => ({ inbox: [{ inbox_id: 'con_1/evt_1', outcome: 'parked' }] }))
  },
  'budgets-hold': run => {
    const budget = { projectId: OWN, budgetId: 'bud_1', cap: 1_000, amount: 600, granted: 2, refused: 0, open: 0 }
    run.truth.budgets.push(budget)
    return run
  },
  'reports-are-recorded-once': run =>
    withLists(run, ({ operations }) => ({
      operations: [...operations, { operation_id: 'op_second', state: 'completed' }],
    })),
  'lists-stay-in-their-project': run =>
    withLists(run, ({ actions }) => ({ actions: [...actions, action('re_x', { project_id: OTHER })] })),
  'audit-is-one-chain': run => {
    const { ndjson, publicKeys } = run.evidence.audit
    return withAudit(run, { ndjson: ndjson.replace(OWN, 'prj_forged'), publicKeys })
  },
  'changes-are-audited': run => withAudit(run, auditExport([{ action: 'project.create', target: OWN }])),
  'personal-data-stays': run => withStored(run, 'deliveries', '{"email":"buyer-1@shop.example"}'),
  'personal-data-is-erased': run => {
    run.truth.departed.push({ connectionId: 'con_1', atMs: T0 })
    const { terms } = run
    const later = { ...run, terms: { ...terms, endMs: Math.max(T0, terms.faultsEndedMs) + ERASED_AFTER_MS } }
    return withStored(later, 'actions', '{"connection_id":"con_1","email":"buyer-1@shop.example"}')
  },
  'customers-are-erased': run => {
    run.truth.erased.push({ projectId: OWN, email: 'buyer-1@shop.example', atMs: T0 })
    const { terms } = run
    const later = { ...run, terms: { ...terms, endMs: Math.max(T0, terms.faultsEndedMs) + PERSON_ERASED_AFTER_MS } }
    return withStored(later, 'subjects', '{"email":"buyer-1@shop.example"}')
  },
  'secrets-are-stored-nowhere': run => withStored(run, 'connections', '{"read_key":"a-secret-value"}'),
}

test.each(PROPERTIES)('$name notices a run that breaks it', ({ name }) => {
  const break_ = WRONG[name]
  expect(break_, `WRONG has a run for ${name}`).toBeDefined()
  expect(judged(break_!(rightRun())).filter(fault => fault.startsWith(`${name}: `))).not.toEqual([])
})
