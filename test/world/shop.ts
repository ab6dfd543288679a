/** One customer of the product: a project with a card processor's account, a connection and a channel. */
import type { Action, AlertChannel, Connection, Incident, OutOfBand, ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import {
  type CardProcessor,
  createCardProcessor,
  createWebhookEndpoint,
  type Payment,
  type ReceivedDelivery,
  type Receiver,
  startReceiver,
  type WebhookEndpoint,
} from '@backstop/simulator'
import { createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'

export interface Shop {
  readonly projectId: string
  readonly connection: Connection
  /** Shown once, when the connection was made. */
  readonly signingSecret: string
  readonly processor: CardProcessor
  readonly endpoint: WebhookEndpoint
  readonly receiver: Receiver
  readonly api: ManagementApi
  /** A card payment that can be refunded many times. */
  pay(): Payment
  /** Reports an operation as the execution feature would. */
  report(operation: Record<string, unknown>): Promise<ShownOperation>
  setOutOfBand(to: OutOfBand): Promise<void>
  action(refundId: string): Promise<Action | undefined>
  incidents(): Promise<Incident[]>
  /** Deliveries about this refund, by what they were about. */
  alertsAbout(refundId: string): readonly ReceivedDelivery[]
  /** Resolves with the first delivery of incident.opened about the refund. */
  alertAbout(refundId: string, withinMs: number): Promise<ReceivedDelivery>
  stop(): Promise<void>
}

const CHANNEL_SECRET = 'whsec_c2hhcmVkIHdpdGggdGhlIHJlY2VpdmVy'

/** Opens a shop through the public API. */
export async function openShop(product: Product, outOfBand: OutOfBand = 'alert'): Promise<Shop> {
  const api = createManagementApi(product.urls.admin, product.key)
  const receiver = await startReceiver({ secret: CHANNEL_SECRET, now: Date.now })
  const { project_id: projectId } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Shop' })
  const connection = await api.post<Connection & { signing_secret: string }>(`/v1/projects/${projectId}/connections`, {
    kind: 'processor',
    name: 'Cards',
    out_of_band: outOfBand,
  })
  await api.post<AlertChannel>('/v1/alert-channels', {
    project_id: projectId,
    name: 'Receiver',
    events: ['incident.opened', 'incident.resolved'],
    config: { kind: 'webhook', url: `${receiver.url}/alerts`, secret: CHANNEL_SECRET },
  })
  const processor = createCardProcessor({ now: Date.now })
  const retryDelaysMs = Array.from({ length: 300 }, () => 200)
  const endpoint = createWebhookEndpoint({
    url: connection.inbound_url,
    credential: { kind: 'processor', secrets: [connection.signing_secret] },
    retryDelaysMs,
    now: Date.now,
  })
  endpoint.follow(processor)
  const alertsAbout = (refundId: string) => receiver.deliveries().filter(delivery => refundOf(delivery) === refundId)
  return {
    projectId,
    connection,
    signingSecret: connection.signing_secret,
    processor,
    endpoint,
    receiver,
    api,
    pay: () => processor.createPayment({ amount: 1_000_000, currency: 'eur' }),
    report: operation =>
      api.post('/v1/operations', { connection_id: connection.connection_id, kind: 'refund', ...operation }),
    async setOutOfBand(to) {
      const response = await fetch(
        `${product.urls.admin}/v1/projects/${projectId}/connections/${connection.connection_id}`,
        {
          method: 'PATCH',
          headers: { authorization: `Bearer ${product.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ out_of_band: to }),
        },
      )
      if (!response.ok) throw new Error(`PATCH out_of_band was answered ${response.status}: ${await response.text()}`)
    },
    async action(refundId) {
      const { data } = await api.get<{ data: Action[] }>(`/v1/actions?project_id=${projectId}&limit=200`)
      return data.find(action => action.provider_ref === refundId)
    },
    incidents: async () =>
      (await api.get<{ data: Incident[] }>(`/v1/incidents?project_id=${projectId}&limit=200`)).data,
    alertsAbout,
    alertAbout: (refundId, withinMs) =>
      until(`the alert about ${refundId}`, () => alertsAbout(refundId).find(isOpened), {
        timeoutMs: withinMs,
        seen: () => receiver.deliveries().map(delivery => [eventOf(delivery), refundOf(delivery)]),
      }),
    stop: async () => {
      await Promise.all([endpoint.stop(), receiver.stop()])
    },
  }
}

interface DeliveredBody {
  event?: string
  data?: { action?: Action; incident?: Incident }
}

const bodyOf = (delivery: ReceivedDelivery) => (delivery.body ?? {}) as DeliveredBody
export const eventOf = (delivery: ReceivedDelivery) => bodyOf(delivery).event
export const refundOf = (delivery: ReceivedDelivery) => bodyOf(delivery).data?.action?.provider_ref
export const isOpened = (delivery: ReceivedDelivery) => eventOf(delivery) === 'incident.opened'
