import type { Action, Alert, Approval, Incident, Names, ShownOperation, Storm } from '@backstop/contracts'
import type { Reader } from './times.ts'

const AT = '2026-11-21T10:00:00.000Z'

/** A reader of the samples, two minutes after the alert. */
export const SAMPLE_READER: Reader = { timeZone: 'UTC', nowMs: Date.parse(AT) + 120_000 }

const NAMES: Names = { project: 'Acme Games', connection: 'Shop Germany' }

type AlertOf<Event> = Extract<Alert, { event: Event }>

const DATA: { readonly [Event in Alert['event']]: (projectId: string) => AlertOf<Event>['data'] } = {
  'incident.opened': projectId => ({ incident: incident(projectId), action: action(projectId), names: NAMES }),
  'incident.resolved': projectId => ({
    incident: {
      ...incident(projectId),
      state: 'resolved',
      summary:
        'A refund of EUR 1,249.90 on pi_3QK5vLAbCdEfGhIj0aBcDeFg is explained after all: operation op_3v8qk2x9m1s7d5f0 names this very object',
      resolved_at: '2026-11-21T10:04:00.000Z',
      resolved_by: 'op_3v8qk2x9m1s7d5f0',
      version: 2,
    },
    action: {
      ...action(projectId),
      verdict: 'explained',
      reason: 'provider_ref_matches',
      operation_id: 'op_3v8qk2x9m1s7d5f0',
    },
    names: NAMES,
  }),
  'incident.acknowledged': projectId => ({
    incident: {
      ...incident(projectId),
      state: 'acknowledged',
      acknowledged_at: '2026-11-21T10:02:00.000Z',
      acknowledged_by: 'On call',
      version: 2,
    },
    action: action(projectId),
    names: NAMES,
  }),
  'drift.detected': projectId => ({
    operation: { ...operation(projectId), state: 'completed', executing_at: AT, ended_at: AT },
    action: {
      ...action(projectId),
      amount: 129_990,
      verdict: 'explained',
      reason: 'provider_ref_matches',
      operation_id: 'op_3v8qk2x9m1s7d5f0',
    },
    differences: [{ field: 'amount', operation_says: 'EUR 1,249.90', provider_says: 'EUR 1,299.90' }],
    names: NAMES,
  }),
  'approval.requested': projectId => ({ operation: operation(projectId), approval: APPROVAL, names: NAMES }),
  'approval.reminder': projectId => ({
    operation: operation(projectId),
    approval: { ...APPROVAL, reminded_at: APPROVAL.remind_at },
    names: NAMES,
  }),
  'approval.expired': projectId => ({
    operation: { ...operation(projectId), state: 'expired' },
    approval: APPROVAL,
    names: NAMES,
  }),
  'cap.threshold': projectId => ({
    budget: {
      budget_id: 'bud_4d8g1k6p3t9w2z7c',
      project_id: projectId,
      connection_id: null,
      name: 'Refunds a day',
      currency: 'eur',
      cap: 1_000_000,
      interval: 'day',
      version: 1,
      created_at: AT,
      updated_at: AT,
    },
    current: {
      starts_at: '2026-11-21T00:00:00.000Z',
      ends_at: '2026-11-22T00:00:00.000Z',
      used: 700_000,
      reserved: 124_990,
      left: 175_010,
    },
    percent: 80,
    operation: operation(projectId),
    names: NAMES,
  }),
  'run.failed': projectId => ({
    run: {
      run_id: 'nightly-refunds-2026-11-21',
      project_id: projectId,
      reason: 'The agent stopped after three timeouts',
      failed_at: AT,
      reported_at: AT,
    },
    operations: [{ ...operation(projectId), state: 'executing', executing_at: AT }],
    operations_total: 12,
    names: NAMES,
  }),
  'storm.reported': projectId => ({ storm: storm(projectId), names: NAMES }),
  'channel.test': () => ({ channel_id: 'chn_sample', text: 'This is a test of the alert channel "On call"' }),
}

/** One sample of each alert for previews and tests. The samples never change. */
export const SAMPLE_ALERTS = Object.fromEntries(
  Object.entries(DATA).map(([event, dataOf]) => [
    event,
    (projectId = 'prj_sample') => ({
      alert_id: 'alr_sample',
      project_id: projectId,
      created_at: AT,
      event,
      data: dataOf(projectId),
    }),
  ]),
) as { readonly [Event in Alert['event']]: (projectId?: string) => AlertOf<Event> }

const APPROVAL: Approval = {
  required: true,
  requested_at: AT,
  remind_at: '2026-11-21T22:00:00.000Z',
  deadline_at: '2026-11-22T10:00:00.000Z',
  reminded_at: null,
  decided_at: null,
  decided_by: null,
}

function storm(projectId: string): Storm {
  return {
    storm_id: 'stm_7h1c5v9q3x6m0k2d',
    project_id: projectId,
    connection_id: 'con_9k3f7h1m5q2v8x4z',
    provider: 'subscription',
    state: 'open',
    report: 2,
    reported_at: '2026-11-21T10:01:00.000Z',
    next_report_at: '2026-11-21T10:05:00.000Z',
    first_at: '2026-11-21T09:59:52.000Z',
    last_at: '2026-11-21T10:00:58.000Z',
    count: 400,
    explained: 0,
    resolved: 0,
    per_minute: 363.6,
    kinds: [{ kind: 'refund', count: 400 }],
    money: [
      { currency: 'eur', amount: 1_916_160, count: 384, largest: 12_490 },
      { currency: 'usd', amount: 79_840, count: 16, largest: 4_990 },
    ],
    mode: 'live',
    customers: 311,
    links: { provider: 'https://acme-games.chargebee.com/d/transactions/txn_AzZlGJTC9bPQ2Kxy', console: null },
    common: {
      channel: { value: 'api', count: 400 },
      key_name: { value: 'Billing server', count: 397 },
      user: null,
      customer: null,
      subject: null,
      amount: { value: 4_990, currency: 'eur', count: 371 },
      refund_reason: { value: 'requested_by_customer', count: 400 },
    },
  }
}

function operation(projectId: string): ShownOperation {
  return {
    operation_id: 'op_3v8qk2x9m1s7d5f0',
    project_id: projectId,
    connection_id: 'con_9k3f7h1m5q2v8x4z',
    provider: 'processor',
    version: 1,
    kind: 'refund',
    subject: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    amount: 124_990,
    currency: 'eur',
    provider_ref: null,
    idempotency_key: null,
    run_id: 'nightly-refunds-2026-11-21',
    state: 'approval_pending',
    reason: null,
    executing_at: null,
    ended_at: null,
    created_at: AT,
    updated_at: AT,
    approval: APPROVAL,
    unapproved: null,
    budgets: [],
  }
}

function incident(projectId: string): Incident {
  return {
    incident_id: 'inc_6g2p0n4r8t1w5y9b',
    project_id: projectId,
    connection_id: 'con_9k3f7h1m5q2v8x4z',
    code: 'UNEXPECTED_ACTION',
    state: 'open',
    summary:
      'A refund of EUR 1,249.90 on pi_3QK5vLAbCdEfGhIj0aBcDeFg was made at the provider, and no operation of yours explains it',
    action_id: 'act_sample',
    out_of_band: 'alert',
    opened_at: AT,
    resolved_at: null,
    resolved_by: null,
    version: 1,
  }
}

function action(projectId: string): Action {
  return {
    action_id: 'act_sample',
    project_id: projectId,
    connection_id: 'con_9k3f7h1m5q2v8x4z',
    connection_ids: ['con_9k3f7h1m5q2v8x4z'],
    provider: 'processor',
    kind: 'refund',
    subject: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    provider_ref: 're_3QK5vLAbCdEfGhIj0xYzAbCd',
    amount: 124_990,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: '2026-11-21T09:58:41.000Z',
    first_seen_at: '2026-11-21T09:58:44.000Z',
    second_look_at: AT,
    verdict: 'unexplained',
    reason: 'nothing_explains_it',
    operation_id: null,
    incident_id: 'inc_6g2p0n4r8t1w5y9b',
    event_ids: ['evt_sample'],
    why: {
      rule: 'Nothing explains it',
      candidates: [],
      closest: {
        operation_id: 'op_3v8qk2x9m1s7d5f0',
        failure: 'other_amount',
        text: 'Your software reported a refund of EUR 49.90 on the same payment at 09:58 UTC; this one is EUR 1,249.90',
        reported: { amount: 4_990, currency: 'eur', at: '2026-11-21T09:58:02.000Z' },
      },
      read_back: 'confirmed',
    },
    origin: {
      channel: 'api',
      key_name: null,
      user: null,
      request_id: 'req_8fKx2mQpLw',
      idempotency_key: null,
    },
    customer: { id: 'cus_9s6XKzkNRiz8i3', name: 'Jana Novak', email: 'jana.novak@example.com' },
    payment: {
      number: '2014-7788',
      plan: null,
      refund_reason: 'requested_by_customer',
      destination: 'visa 4242',
    },
    mode: 'live',
    links: { provider: 'https://dashboard.stripe.com/payments/pi_3QK5vLAbCdEfGhIj0aBcDeFg', console: null },
    timeline: [],
    version: 1,
  }
}
