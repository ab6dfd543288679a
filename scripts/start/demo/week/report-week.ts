/** Reports the operations of the demo's week and posts its events, as the company's software and its providers do. */
import type { Action, Incident } from '@backstop/contracts'
import { type Credential, createWebhookEndpoint, type ProviderKind, type WebhookEndpoint } from '@backstop/simulator'
import { type ManagementApi, reportAsSoftware } from '../../management-api.ts'
import type { DemoAccounts, MadeChange } from './accounts.ts'
import { ACCOUNTS, type AccountName } from './changes.ts'
import type { DemoConnection, DemoWeekProject } from './create-project.ts'

const KINDS: Readonly<Record<AccountName, ProviderKind>> = {
  shop: 'processor',
  marketplace: 'processor',
  japan: 'processor',
  app_store: 'reseller',
  memberships: 'subscription',
}

/** The endpoints of the accounts. They hold every event until `release`, which posts the oldest first. */
export interface HeldEvents {
  release(): Promise<void>
  stop(): Promise<void>
}

export function holdEvents(accounts: DemoAccounts, { connections }: Pick<DemoWeekProject, 'connections'>): HeldEvents {
  const newestLast: { readonly event: object; post(): Promise<void> }[] = []
  const endpoints = ACCOUNTS.map(name => {
    const endpoint = createWebhookEndpoint({
      url: connections[name].inbound_url,
      credential: credentialOf(KINDS[name], connections[name]),
      now: Date.now,
    }) as WebhookEndpoint<ProviderKind>
    endpoint.hold()
    // Each account sends only events of its own kind.
    const account = accounts[name] as unknown as Parameters<typeof endpoint.follow>[0]
    endpoint.follow(account)
    account.onEvent(event => newestLast.push({ event, post: () => endpoint.post(event) }))
    return endpoint
  })
  return {
    // In the order of all accounts together, so that the incidents open in the order in which their changes were made.
    async release() {
      const held = new Set<object>()
      const takeHeld = (events: readonly object[]) => {
        for (const event of events) held.add(event)
        return []
      }
      await Promise.all(endpoints.map(endpoint => endpoint.release(takeHeld)))
      for (const { event, post } of newestLast) if (held.has(event)) await post()
    },
    async stop() {
      await Promise.all(endpoints.map(endpoint => endpoint.stop()))
    },
  }
}

function credentialOf(kind: ProviderKind, { secret }: DemoConnection): Credential & { kind: ProviderKind } {
  return kind === 'subscription' ? { kind, password: secret } : { kind, secrets: [secret] }
}

/** Reports the changes that the company's software made, and one that it made with another amount. */
export async function reportOperations(
  api: ManagementApi,
  { connections }: DemoWeekProject,
  changes: readonly MadeChange[],
): Promise<void> {
  for (const change of changes) {
    const { account, kind, at, subject, providerRef, idempotencyKey, currency, isReported, reportedAmount } = change
    if (!isReported && reportedAmount === undefined) continue
    const amount = reportedAmount ?? change.amount
    const named = isReported ? { provider_ref: providerRef, idempotency_key: idempotencyKey } : {}
    await api.post('/v1/operations', {
      connection_id: connections[account].connection_id,
      kind,
      subject,
      ...named,
      ...(kind === 'refund' ? { amount, currency } : {}),
      state: 'completed',
      executing_at: at,
      ended_at: at,
      run_id: runIdOf(change),
    })
  }
}

function runIdOf({ at }: MadeChange): string {
  return `billing-${at.slice(0, 10)}`
}

/** Reports that the run of the second day failed. */
export async function reportFailedRun(
  api: ManagementApi,
  { project_id }: DemoWeekProject,
  changes: readonly MadeChange[],
): Promise<void> {
  const reported = changes.filter(({ isReported }) => isReported)
  const runIds = [...new Set(reported.map(runIdOf))].toSorted()
  const runId = runIds[1]
  const last = reported.findLast(change => runIdOf(change) === runId)
  if (runId === undefined || last === undefined) throw new Error('The week has too few runs')
  await api.post(`/v1/runs/${runId}/failed`, {
    project_id,
    failed_at: last.at,
    reason:
      'The database of the billing service was read-only. The remaining refunds were made by the run of the next day.',
  })
}

/** An operation that waits for approval. From then on the project requires approvals. */
export async function requestApproval(
  api: ManagementApi,
  { project_id, connections }: DemoWeekProject,
  changes: readonly MadeChange[],
): Promise<void> {
  await api.patch(`/v1/projects/${project_id}`, {
    requires_approval: true,
    approval_deadline_seconds: 30 * 86_400,
  })
  const payment = changes.find(({ account, kind }) => account === 'shop' && kind === 'refund')
  await reportAsSoftware(api, project_id, {
    connection_id: connections.shop.connection_id,
    kind: 'refund',
    subject: payment?.subject ?? 'pi_demo',
    amount: 84_000,
    currency: 'eur',
    state: 'requested',
    reason: 'The order arrived damaged; the customer sent photographs',
  })
}

const POLL_MS = 1_000

/**
 * Waits until the changes have incidents, then works on two of them as a person does.
 * @returns false if the signal ended the wait
 */
export async function workOnIncidents(
  api: ManagementApi,
  { project_id }: DemoWeekProject,
  changes: readonly MadeChange[],
  signal: AbortSignal,
): Promise<boolean> {
  const unexplained = changes.filter(({ isReported, account }) => !isReported && account !== 'japan')
  const [toAcknowledge, toResolve] = ['Bruno Lindqvist', 'Chiara Moretti'].map(customer =>
    unexplained.find(change => change.customer === customer && change.account === 'shop'),
  )
  const first = await incidentOf(api, project_id, toAcknowledge?.providerRef, signal)
  const second = await incidentOf(api, project_id, toResolve?.providerRef, signal)
  if (first === undefined || second === undefined) return false
  await api.post(`/v1/incidents/${first}/acknowledge`, {})
  await api.post(`/v1/incidents/${first}/assign`, { assignee: 'Sam (billing)' })
  await api.post(`/v1/incidents/${first}/comments`, {
    text: 'Billing asked for EUR 129.00, the old admin tool refunded ten times as much. Rolling its key now.',
  })
  await api.post(`/v1/incidents/${second}/resolve`, {
    reason: 'our_own_change',
    note: 'Support made this refund in the dashboard while the billing service was being updated',
  })
  return true
}

async function incidentOf(
  api: ManagementApi,
  projectId: string,
  providerRef: string | null | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const list = <T>(path: string) => api.get<{ data: T[] }>(`${path}?project_id=${projectId}&limit=200`)
    const { data: actions } = await list<Action>('/v1/actions')
    const actionId = actions.find(action => action.provider_ref === providerRef)?.action_id
    // An action names its incident a moment before the incident can be read.
    const { data: incidents } = await list<Incident>('/v1/incidents')
    const incident = incidents.find(({ action_id }) => action_id !== null && action_id === actionId)
    if (incident !== undefined) return incident.incident_id
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
  return undefined
}
