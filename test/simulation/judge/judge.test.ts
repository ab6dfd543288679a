import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type AccountTruth, type Deed, newTruth, type Truth } from '../actors/truth.ts'
import type { Evidence, ProjectLists, Terms } from './evidence.ts'
import { judge, PROPERTIES } from './judge.ts'

const T0 = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const [OWN, OTHER] = ['prj_own', 'prj_other']
const keys = generateKeyPairSync('ed25519')

const TERMS: Terms = {
  secondLookMs: MINUTE,
  clockMs: 0,
  delayMs: 0,
  mayRepeat: false,
  faultsEndedMs: T0 - 5 * MINUTE,
  endMs: T0 + 5 * MINUTE,
}
const iso = (ms: number) => new Date(ms).toISOString()

/** A run in which a stranger's refund alerted, and another refund was reported. */
interface Run {
  readonly truth: Truth
  readonly evidence: Evidence
  readonly terms: Terms
}

function deed(ref: string, more: Partial<Deed> = {}): Deed {
  const accounts: AccountTruth[] = [{ projectId: OWN, kind: 'processor', grounds: [] }]
  const common = {
    projectId: OWN,
    title: 'a refund',
    accounts,
    atMs: T0,
    hasVerdict: true,
    mustAlert: true,
    grounds: [],
  }
  return { ...common, ref, names: [ref], ...more }
}

interface MoreOfAlert {
  readonly incidentId?: string
  readonly project_id?: string
  readonly data?: object
  readonly shownBy?: readonly string[]
}

/** @param more.shownBy the accounts that show the action, first the one whose id it has */
function alert(event: string, ref: string, more: MoreOfAlert = {}) {
  const { incidentId = `inc_${ref}`, project_id = OWN, data, shownBy = ['processor'] } = more
  const incident = { incident_id: incidentId, code: 'UNEXPECTED_ACTION' }
  const shown = { provider: shownBy[0], connection_ids: shownBy.map(kind => `con_${kind}`) }
  const action = { ...shown, provider_ref: ref, subject: 'pi_1', amount: 100, first_seen_at: iso(T0) }
  return JSON.stringify({ id: `alr_${event}_${ref}`, event, project_id, data: { incident, action, ...data } })
}

function received(body: string, more: Partial<Truth['received'][number]> = {}): Truth['received'][number] {
  const { id } = JSON.parse(body) as { id: string }
  return { atMs: T0 + MINUTE + 100, channel: 'own.example', webhookId: `dlv_${id}`, body, isAnswered: true, ...more }
}

function lists(projectId: string, more: object = {}): ProjectLists {
  return {
    projectId,
    actions: [],
    incidents: [],
    operations: [],
    inbox: [],
    deliveries: [],
    budgets: [],
    ...more,
  } as ProjectLists
}

const action = (ref: string, more: object = {}) => ({
  action_id: `act_${ref}`,
  kind: 'refund',
  provider_ref: ref,
  subject: 'pi_1',
  amount: 100,
  verdict: 'unexplained',
  incident_id: `inc_${ref}`,
  ...more,
})

/** The delivery of the stranger's refund. */
const delivery = (more: object = {}) => ({
  delivery_id: 'dlv_alr_incident.opened_re_stranger',
  channel_id: 'chn_own.example',
  state: 'delivered',
  attempts: [{ attempt: 1 }],
  next_attempt_at: null,
  ...more,
})

function auditExport(rows: readonly object[]): Evidence['audit'] {
  let hash = ''
  const lines = rows.map((row, index) => {
    const linked = { ...row, sequence: index + 1, previous_hash: hash, _id: `aud_${index}` }
    hash = createHash('sha256')
      .update(`${hash}\n${canonical(linked)}`)
      .digest('hex')
    const { _id, ...shown } = linked
    return JSON.stringify({ ...shown, audit_id: _id, hash })
  })
  const sha256 = createHash('sha256')
    .update(lines.map(line => `${line}\n`).join(''))
    .digest('hex')
  const statement = { rows: lines.length, sha256, faults: [] }
  const signature = sign(null, Buffer.from(canonical(statement)), keys.privateKey).toString('base64url')
  return {
    ndjson: [...lines, JSON.stringify({ statement, signature })].map(line => `${line}\n`).join(''),
    publicKeys: [keys.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  }
}

const canonical = (value: object) =>
  JSON.stringify(value, (_, item) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )

function rightRun(): Run {
  const explained = { reason: 'an operation', explains: true, begins: { fromMs: T0, toMs: T0 + 1 } }
  const truth = newTruth()
  truth.deeds.push(deed('re_stranger'), deed('re_reported', { grounds: [explained] }))
  for (const [projectId, host] of [
    [OWN, 'own.example'],
    [OTHER, 'other.example'],
  ] as const) {
    const begins = { fromMs: T0 - 10, toMs: T0 - 5 }
    const events = ['incident.opened', 'incident.resolved']
    truth.channels.push({ channelId: `chn_${host}`, projectId, host, events, begins })
  }
  truth.received.push(received(alert('incident.opened', 're_stranger')))
  truth.accepted.push({ connectionId: 'con_1', eventId: 'evt_1', atMs: T0 })
  truth.reports.push({ operationId: 'op_1', state: 'completed' })
  truth.secrets.push('a-secret-value')
  const own = lists(OWN, {
    actions: [action('re_stranger'), action('re_reported', { verdict: 'explained', incident_id: null })],
    incidents: [{ incident_id: 'inc_re_stranger', state: 'open', action_id: 'act_re_stranger' }],
    operations: [{ operation_id: 'op_1', state: 'completed' }],
    inbox: [{ inbox_id: 'con_1/evt_1', outcome: 'recorded' }],
    deliveries: [delivery()],
  })
  const audit = auditExport([
    { action: 'project.create', target: OWN },
    { action: 'operation.create', target: 'op_1' },
  ])
  return { truth, evidence: { projects: [own, lists(OTHER)], audit, stored: [] }, terms: TERMS }
}

const judged = ({ truth, evidence, terms }: Run) => judge(truth, evidence, terms)
/** The evidence of a run with other fields in the lists of its first project. */
const withLists = (run: Run, change: (own: ProjectLists) => object): Run => {
  const [own, other] = run.evidence.projects as [ProjectLists, ProjectLists]
  return { ...run, evidence: { ...run.evidence, projects: [{ ...own, ...change(own) }, other] } }
}
const withStored = (run: Run, place: string, text: string): Run => ({
  ...run,
  evidence: { ...run.evidence, stored: [{ place, text }] },
})
const withAudit = (run: Run, audit: Evidence['audit']): Run => ({ ...run, evidence: { ...run.evidence, audit } })
const withReceived = (run: Run, ...more: Truth['received'][number][]): Run => {
  run.truth.received.push(...more)
  return run
}
const opened = (ref = 're_stranger') => alert('incident.opened', ref)

test('a run without a fault is right', () => {
  expect(judged(rightRun())).toEqual([])
})

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
  'secrets-are-stored-nowhere': run => withStored(run, 'connections', '{"read_key":"a-secret-value"}'),
}

test.each(PROPERTIES)('$name notices a run that breaks it', ({ name }) => {
  const break_ = WRONG[name]
  expect(break_, `WRONG has a run for ${name}`).toBeDefined()
  expect(judged(break_!(rightRun())).filter(fault => fault.startsWith(`${name}: `))).not.toEqual([])
})

test('an alert may be late if its receiver failed at first', () => {
  const run = rightRun()
  const [first] = run.truth.received.splice(0)
  const { channel, webhookId, body } = first!
  run.truth.failedAttempts.push({ channel, webhookId, body })
  expect(judged(withReceived(run, { ...first!, atMs: T0 + 3 * MINUTE }))).toEqual([])
})

test('an incident that opens as its silence ends may be reported as resolved only', () => {
  const endedAt = (atMs: number) => {
    const run = rightRun()
    const data = {
      incident: { incident_id: 'inc_re_stranger', code: 'UNEXPECTED_ACTION', opened_at: iso(T0 + MINUTE) },
    }
    run.truth.received.splice(0, 1, received(alert('incident.resolved', 're_stranger', { data })))
    const ends = { fromMs: atMs - 50, toMs: atMs + 50 }
    const silence = { reason: 'a silence', explains: false, begins: { fromMs: T0, toMs: T0 }, ends }
    run.truth.deeds[0]?.accounts[0]?.grounds.push(silence)
    return judged(run).filter(fault => fault.startsWith('opened-before-resolved'))
  }
  expect(endedAt(T0 + MINUTE)).toEqual([])
  expect(endedAt(T0 + 2 * MINUTE)).toHaveLength(1)
})

test('an alert about a connection has no action', () => {
  const data = { incident: { incident_id: 'inc_feed', code: 'FEED_SILENT' }, action: null }
  const run = withReceived(rightRun(), received(alert('incident.resolved', 'con_1', { data })))
  expect(judged(run).filter(fault => fault.startsWith('opened-before-resolved'))).toHaveLength(1)
})

test('a silence that may hold allows no verdict', () => {
  const run = withLists(rightRun(), () => ({ deliveries: [] }))
  run.truth.received.splice(0)
  run.truth.deeds[0]?.grounds.push({ reason: 'a silence', explains: false, begins: { fromMs: T0 } })
  expect(judged(run)).toEqual([])
})

test('an alert during a silence is wrong, also if the silence ends before the run', () => {
  const silencedUntil = (atMs: number) => {
    const run = rightRun()
    const [begins, ends] = [T0 - 1, atMs].map(at => ({ fromMs: at, toMs: at }))
    run.truth.deeds[0]?.grounds.push({ reason: 'a silence', explains: false, begins: begins!, ends })
    return judged(run)
  }
  expect(silencedUntil(T0 + 2 * MINUTE)).toEqual([expect.stringContaining('explained-changes-are-silent')])
  expect(silencedUntil(T0 + MINUTE + 50)).toEqual([])
})

describe('an alert that a receiver did not get', () => {
  const retrying = delivery({ state: 'retrying', next_attempt_at: iso(T0 + 10 * MINUTE) })
  const faultsOf = (attempts: Truth['failedAttempts'], deliveries: readonly object[] = [retrying]) => {
    const run = withLists(rightRun(), () => ({ deliveries }))
    run.truth.received.splice(0)
    run.truth.failedAttempts.push(...attempts)
    return judged(run).map(fault => fault.slice(0, fault.indexOf(':')))
  }
  const failedAttempt = (ref: string) => {
    const body = opened(ref)
    return { channel: 'own.example', webhookId: `dlv_${JSON.parse(body).id}`, body }
  }

  test('is still tried if the receiver failed at it and its next attempt is after the end of the run', () => {
    expect(faultsOf([failedAttempt('re_stranger')])).toEqual([])
  })

  test('is missing if no attempt failed, if only another alert failed, and if its delivery has ended', () => {
    const missing = ['unexplained-changes-alert']
    expect(faultsOf([])).toEqual(missing)
    expect(faultsOf([failedAttempt('re_other')])).toEqual(missing)
    expect(faultsOf([failedAttempt('re_stranger')], [delivery({ state: 'dead' })])).toEqual(missing)
  })
})

test('a change is listed, also if it is explained, unless the product may not have heard of it', () => {
  const reported = (mayHide?: true) => {
    const run = withLists(rightRun(), ({ actions }) => ({ actions: actions.slice(0, 1) }))
    const begins = { fromMs: T0, toMs: T0 }
    run.truth.deeds[1]?.grounds.push({ reason: 'a ground', explains: false, begins, ...(mayHide && { mayHide }) })
    return judged(run)
  }
  expect(reported()).toEqual([expect.stringContaining('one-action-for-each-change')])
  expect(reported(true)).toEqual([])
})

test('an operation has the id of each report that was confirmed', () => {
  const run = rightRun()
  run.truth.reports.push({ operationId: 'op_1', state: 'completed', providerRef: 're_first' })
  const withRef = (provider_ref: string) =>
    judged(withLists(run, () => ({ operations: [{ operation_id: 'op_1', state: 'completed', provider_ref }] })))
  expect(withRef('re_first')).toEqual([])
  expect(withRef('re_second')).toEqual([expect.stringContaining('reports-are-recorded-once')])
})

test('a resolution that replaces the opening notifies of both', () => {
  const resolvedWith = (data: object) => {
    const run = rightRun()
    // Of two equal changes one was expected. The other alerted.
    const begins = { fromMs: T0, toMs: T0 }
    const equal = ['re_stranger', 're_expected'].map(ref =>
      deed(ref, { grounds: [{ reason: 'expected', explains: false, begins }] }),
    )
    run.truth.capped.push({ deeds: equal, covered: 1 })
    const body = alert('incident.resolved', 're_stranger', { data })
    run.truth.received.splice(0, 1, received(body))
    return judged(
      withLists(run, () => ({
        deliveries: [delivery({ delivery_id: 'dlv_alr_incident.resolved_re_stranger' })],
        incidents: [{ incident_id: 'inc_re_stranger', state: 'resolved' }],
      })),
    )
  }
  expect(resolvedWith({ supersedes: 'alr_incident.opened_re_stranger' })).toEqual([])
  for (const property of ['unexplained-changes-alert', 'expected-changes-are-capped'])
    expect(resolvedWith({})).toContainEqual(expect.stringContaining(property))
})

test('a delivery that is listed as delivered was received', () => {
  const run = withLists(rightRun(), () => ({ deliveries: [delivery(), delivery({ delivery_id: 'dlv_never' })] }))
  expect(judged(run)).toEqual([expect.stringContaining('deliveries-are-listed: Delivery dlv_never')])
})

test('an end by dunning may alert only if ingress got the late payment after its second look', () => {
  const endedAfter = (atMs: number) => {
    const run = rightRun()
    run.truth.deeds[0] = deed('re_stranger', { hasVerdict: false, mustAlert: false })
    run.truth.accepted.push({ connectionId: 'con_1', eventId: 'evt_1', atMs, latePaymentOf: 're_stranger' })
    return judged(run)
  }
  expect(endedAfter(T0 + MINUTE + 1)).toEqual([])
  expect(endedAfter(T0 + MINUTE)).toEqual([expect.stringContaining('explained-changes-are-silent')])
})

test('a repeat of a delivery with the same bytes is right after a lost answer, and where something may have broken', () => {
  const lost = rightRun()
  const [first] = lost.truth.received.splice(0)
  expect(judged(withReceived(lost, { ...first!, isAnswered: false }, first!))).toEqual([])
  const broken = withReceived(rightRun(), received(opened()))
  const repeatedUnder = (terms: Partial<Terms>) => judged({ ...broken, terms: { ...TERMS, mayRepeat: true, ...terms } })
  expect(repeatedUnder({ faultsEndedMs: T0 + MINUTE })).toEqual([])
  expect(repeatedUnder({ faultsEndedMs: T0 - MINUTE })).toEqual([
    expect.stringContaining('repeats-follow-lost-answers'),
  ])
})

describe('a refund through the gateway, reported with the id of the biller', () => {
  const BILLER = ['subscription']
  const GATEWAY = ['processor']
  const faultsOf = (
    openings: readonly { readonly ref: string; readonly shownBy: readonly string[] }[],
    { isReported = false, open = 1, faultsEndedMs = T0 } = {},
  ) => {
    const { truth, evidence } = rightRun()
    const begins = { fromMs: T0, toMs: T0 }
    const accounts = [...BILLER, ...GATEWAY].map(kind => ({ projectId: OWN, kind, grounds: [] }))
    const grounds = isReported ? [{ reason: 'an operation', explains: false, begins }] : []
    truth.deeds.push(deed('txn_1', { names: ['txn_1', 're_1'], accounts, grounds }))
    for (const { ref, shownBy } of openings) truth.received.push(received(alert('incident.opened', ref, { shownBy })))
    const run = withLists(
      { truth, evidence, terms: { ...TERMS, faultsEndedMs } },
      ({ actions, incidents, deliveries }) => ({
        actions: [...actions, action('txn_1')],
        deliveries: [
          ...deliveries,
          ...openings.map(({ ref }) => delivery({ delivery_id: `dlv_alr_incident.opened_${ref}` })),
        ],
        incidents: [
          ...incidents,
          ...openings.map(({ ref }, index) => ({
            incident_id: `inc_${ref}`,
            state: index < open ? 'open' : 'resolved',
          })),
        ],
      }),
    )
    return judged(run).map(fault => fault.slice(0, fault.indexOf(':')))
  }
  const apart = [
    { ref: 'txn_1', shownBy: BILLER },
    { ref: 're_1', shownBy: GATEWAY },
  ]

  test('may alert at both accounts while nothing says that they show one refund', () => {
    expect(faultsOf(apart)).toEqual([])
    expect(faultsOf([{ ref: 're_1', shownBy: GATEWAY }], { isReported: true })).toEqual([])
  })

  test.each([
    { name: 'both incidents stay open', openings: apart, more: { open: 2 }, fault: 'one-incident-for-each-change' },
    {
      name: 'its second alert knows both accounts',
      openings: [apart[0]!, { ref: 're_1', shownBy: [...GATEWAY, ...BILLER] }],
      more: {},
      fault: 'one-incident-for-each-change',
    },
    {
      name: 'nothing was broken',
      openings: apart,
      more: { faultsEndedMs: T0 - 5 * MINUTE },
      fault: 'one-incident-for-each-change',
    },
    {
      name: 'the account of its report alerts',
      openings: [apart[0]!],
      more: { isReported: true },
      fault: 'explained-changes-are-silent',
    },
    {
      name: 'the alert of the other account knows both',
      openings: [{ ref: 're_1', shownBy: [...GATEWAY, ...BILLER] }],
      more: { isReported: true },
      fault: 'explained-changes-are-silent',
    },
  ])('is wrong if $name', ({ openings, more, fault }) => {
    expect(faultsOf(openings, more)).toContain(fault)
  })
})
