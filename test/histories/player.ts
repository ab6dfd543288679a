/** Runs histories on the running product, each in its own project, and collects the results. */

import type { AlertChannel } from '@backstop/channels'
import type { Action, CreatedConnection, Incident } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { postNotification, type ReceivedDelivery, type Receiver } from '@backstop/simulator'
import type { ManagementApi } from '../../scripts/start/management-api.ts'
import type { BillerApi } from './biller-api.ts'
import type { History, Outcome, Shop } from './history.ts'

/** The product, receiver and API that a history runs with. */
export interface PlayContext {
  readonly provider: 'processor' | 'reseller' | 'subscription'
  readonly api: ManagementApi
  readonly receiver: Receiver
  /** The provider's API; null if the connection has no read key. */
  readonly billerApi: BillerApi | null
}

/** A history whose steps are done. */
export interface PlayedHistory {
  /** The result so far, in the form of the history. */
  outcome(): Promise<Outcome>
}

const SECRETS = {
  processor: 'whsec_the_secret_of_the_histories',
  reseller: 'pdl_ntfset_01j0000000000000000000000_histories',
} as const
const CHANNEL_SECRET = 'whsec_c2hhcmVkIHdpdGggdGhlIHJlY2VpdmVy'

/** Runs all steps of a history in a new project. */
export async function playHistory(history: History, context: PlayContext): Promise<PlayedHistory> {
  const { api, receiver, provider } = context
  const { project_id: projectId } = await api.post<{ project_id: string }>('/v1/projects', { name: history.name })
  await api.post<AlertChannel>('/v1/alert-channels', {
    project_id: projectId,
    name: 'Receiver',
    events: ['incident.opened', 'incident.resolved', 'drift.detected'],
    config: { kind: 'webhook', url: `${receiver.url}/${projectId}`, secret: CHANNEL_SECRET },
  })
  const connection = await api.post<CreatedConnection>(`/v1/projects/${projectId}/connections`, {
    kind: provider,
    name: history.name,
    out_of_band: history.outOfBand ?? 'alert',
    ...(provider === 'processor' ? { signing_secret: SECRETS.processor } : {}),
    ...(provider === 'reseller' ? { destination_secret: SECRETS.reseller } : {}),
    ...(context.billerApi === null
      ? {}
      : { site: 'shop', read_key: 'a-key-that-may-only-read', api_base: context.billerApi.url }),
  })
  const madeInSecond = Math.floor(Date.now() / 1000)
  await until('the second after the connection', () => Math.floor(Date.now() / 1000) > madeInSecond)
  const actions = () => listActions(api, projectId)
  await history.play(openShop(context, projectId, connection, actions))
  return {
    async outcome() {
      const alerts = receiver
        .deliveries()
        .filter(delivery => bodyOf(delivery).project_id === projectId)
        .map(describeAlert)
      const listed = await actions()
      const incidents = await api.get<{ data: Incident[] }>(`/v1/incidents?project_id=${projectId}&limit=200`)
      return {
        verdicts: listed.flatMap(verdictOf).sort(),
        alerts: alerts.sort(),
        others: listed.flatMap(action => (verdictOf(action).length === 0 ? [action.kind] : [])).sort(),
        summaries: incidents.data
          .map(({ summary }) => summary.replace(', and no operation of yours explains it', ''))
          .sort(),
      }
    },
  }
}

function openShop(
  { api, provider, billerApi }: PlayContext,
  projectId: string,
  connection: CreatedConnection,
  actions: () => Promise<Action[]>,
): Shop {
  const credential =
    provider === 'subscription'
      ? ({ kind: provider, password: connection.password ?? '' } as const)
      : ({ kind: provider, secrets: [SECRETS[provider]] } as const)
  const connectionId = connection.connection_id
  let doesIngressKnow = false
  const post = async (body: object) => {
    const answer = await postNotification({ url: connection.inbound_url, body, credential, now: Date.now })
    if (answer.status !== 200) throw new Error(`Ingress answered ${answer.status}: ${answer.body}`)
    return true
  }
  return {
    now: () => Math.floor(Date.now() / 1000),
    async post(body) {
      // Ingress refuses events of a new connection until it has read the connection. Like a provider, post the event again.
      if (!doesIngressKnow) {
        doesIngressKnow = await until('ingress to know the connection', () => post(body), { timeoutMs: 10_000 })
      } else await post(body)
    },
    async report(operation) {
      const body = { connection_id: connectionId, kind: 'refund', ...operation }
      const { operation_id: operationId } = await api.post<{ operation_id: string }>('/v1/operations', body)
      return operationId
    },
    async reportTransition(operationId, transition) {
      await api.post(`/v1/operations/${operationId}/transitions`, transition)
    },
    async expectChange(change) {
      const body = { project_id: projectId, connection_id: connectionId, note: 'A person expects it', ...change }
      await api.post('/v1/expected-changes', body)
    },
    async change(settings) {
      await api.patch(`/v1/projects/${projectId}/connections/${connectionId}`, settings)
    },
    setApiObject(type, object) {
      if (billerApi === null) throw new Error('This connection has no read key')
      billerApi.setObject(type, object)
    },
    untilRecorded: ref => waitFor(`the record of ${ref}`, async () => (await actions()).some(isNamed(ref))),
    untilJudged: ref =>
      waitFor(`the verdict on ${ref}`, async () => {
        const named = (await actions()).filter(isNamed(ref))
        return named.length > 0 && named.every(({ verdict }) => verdict !== 'pending')
      }),
  }
}

const isNamed = (ref: string) => (action: Action) => action.provider_ref === ref

function waitFor(description: string, isFulfilled: () => Promise<boolean>): Promise<unknown> {
  return until(description, isFulfilled, { timeoutMs: 120_000, everyMs: 1_000 })
}

async function listActions(api: ManagementApi, projectId: string): Promise<Action[]> {
  const { data } = await api.get<{ data: Action[] }>(`/v1/actions?project_id=${projectId}&limit=200`)
  return data
}

function verdictOf(action: Action): string[] {
  const { kind, provider_ref: ref, amount, verdict } = action
  if (kind !== 'refund' && kind !== 'cancellation') return []
  return [ref === null ? `${kind} of ${amount} ${verdict}` : `${kind} ${ref} ${verdict}`]
}

interface DeliveredBody {
  readonly event?: string
  readonly project_id?: string
  readonly data?: { readonly action?: Action | null; readonly incident?: Incident }
}

const bodyOf = (delivery: ReceivedDelivery) => (delivery.body ?? {}) as DeliveredBody

function describeAlert(delivery: ReceivedDelivery): string {
  const { event, data } = bodyOf(delivery)
  if (event === 'drift.detected') return 'drift'
  const { action, incident } = data ?? {}
  const about = action?.provider_ref ?? (action?.amount === undefined ? incident?.code : `of ${action.amount}`)
  return `${event?.replace('incident.', '')} ${about}`
}
