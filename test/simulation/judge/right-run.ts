import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { type AccountTruth, type Deed, newTruth, type Truth } from '../actors/truth.ts'
import type { Evidence, ProjectLists, Terms } from './evidence.ts'
import { judge } from './judge.ts'

export const T0 = Date.UTC(2026, 0, 1)
export const MINUTE = 60_000
export const [OWN, OTHER] = ['prj_own', 'prj_other']
const keys = generateKeyPairSync('ed25519')

export const TERMS: Terms = {
  secondLookMs: MINUTE,
  clockMs: 0,
  delayMs: 0,
  mayRepeat: false,
  faultsEndedMs: T0 - 5 * MINUTE,
  endMs: T0 + 5 * MINUTE,
}
export const iso = (ms: number) => new Date(ms).toISOString()

/** A run in which a stranger's refund alerted, and another refund was reported. */
export interface Run {
  readonly truth: Truth
  readonly evidence: Evidence
  readonly terms: Terms
}

export function deed(ref: string, more: Partial<Deed> = {}): Deed {
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

export interface MoreOfAlert {
  readonly incidentId?: string
  readonly project_id?: string
  readonly data?: object
  readonly shownBy?: readonly string[]
}

/** @param more.shownBy the accounts that show the action, first the one whose id it has */
export function alert(event: string, ref: string | null, more: MoreOfAlert = {}) {
  const { incidentId = `inc_${ref}`, project_id = OWN, data, shownBy = ['processor'] } = more
  const incident = { incident_id: incidentId, code: 'UNEXPECTED_ACTION' }
  const shown = { provider: shownBy[0], connection_ids: shownBy.map(kind => `con_${kind}`) }
  const action = { ...shown, provider_ref: ref, subject: 'pi_1', amount: 100, first_seen_at: iso(T0) }
  return JSON.stringify({ id: `alr_${event}_${ref}`, event, project_id, data: { incident, action, ...data } })
}

export function received(body: string, more: Partial<Truth['received'][number]> = {}): Truth['received'][number] {
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
    completeness: { connections: [] },
    ...more,
  } as ProjectLists
}

export const action = (ref: string, more: object = {}) => ({
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
export const delivery = (more: object = {}) => ({
  delivery_id: 'dlv_alr_incident.opened_re_stranger',
  channel_id: 'chn_own.example',
  state: 'delivered',
  attempts: [{ attempt: 1 }],
  next_attempt_at: null,
  ...more,
})

export function auditExport(rows: readonly object[]): Evidence['audit'] {
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

export function rightRun(): Run {
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

export const judged = ({ truth, evidence, terms }: Run) => judge(truth, evidence, terms)
/** The evidence of a run with other fields in the lists of its first project. */
export const withLists = (run: Run, change: (own: ProjectLists) => object): Run => {
  const [own, other] = run.evidence.projects as [ProjectLists, ProjectLists]
  return { ...run, evidence: { ...run.evidence, projects: [{ ...own, ...change(own) }, other] } }
}
export const withStored = (run: Run, place: string, text: string): Run => ({
  ...run,
  evidence: { ...run.evidence, stored: [{ place, text }] },
})
export const withAudit = (run: Run, audit: Evidence['audit']): Run => ({ ...run, evidence: { ...run.evidence, audit } })
export const withReceived = (run: Run, ...more: Truth['received'][number][]): Run => {
  run.truth.received.push(...more)
  return run
}
export const opened = (ref = 're_stranger') => alert('incident.opened', ref)
