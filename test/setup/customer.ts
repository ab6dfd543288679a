/** A customer of the product: a project and a receiver of its alerts, through the public API. */

import type { AlertChannel } from '@backstop/channels'
import type { Action, Alert, AlertEvent, CreatedConnection, Incident } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { type ReceivedDelivery, type Receiver, startReceiver } from '@backstop/simulator'
import { createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'

export interface Customer {
  readonly projectId: string
  readonly api: ManagementApi
  readonly receiver: Receiver
  /** Connects a billing account. The answer contains its secret. */
  connect(connection: Record<string, unknown>): Promise<CreatedConnection>
  /** Lists every action of the project. */
  actions(): Promise<Action[]>
  /** @param ref the provider's id of the refund, or of the subscription */
  action(ref: string): Promise<Action | undefined>
  incidents(): Promise<Incident[]>
  /** The received deliveries about an action. @param ref as for `action` */
  alertsAbout(ref: string): readonly ReceivedDelivery[]
  /** Resolves with the first delivery of incident.opened about an action. @throws Error after `withinMs` */
  alertAbout(ref: string, withinMs: number): Promise<ReceivedDelivery>
  stop(): Promise<void>
}

const CHANNEL_SECRET = 'whsec_c2hhcmVkIHdpdGggdGhlIHJlY2VpdmVy'

/**
 * Creates a project whose alerts go to a new receiver.
 * @param events the events that the receiver gets
 */
export async function openCustomer(
  product: Product,
  events: readonly AlertEvent[] = ['incident.opened', 'incident.resolved'],
): Promise<Customer> {
  const api = createManagementApi(product.urls.admin, product.key)
  const receiver = await startReceiver({ secret: CHANNEL_SECRET, now: Date.now })
  const { project_id: projectId } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Shop' })
  await api.post<AlertChannel>('/v1/alert-channels', {
    project_id: projectId,
    name: 'Receiver',
    events,
    config: { kind: 'webhook', url: `${receiver.url}/alerts`, secret: CHANNEL_SECRET },
  })

  async function listAll<T>(path: string): Promise<T[]> {
    const all: T[] = []
    let cursor: string | null = null
    do {
      const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      // A list that takes MongoDB too long is answered with 503, and a customer asks again.
      const page = await until(`an answer of ${path}`, () =>
        api.get<{ data: T[]; next_cursor: string | null }>(`${path}?project_id=${projectId}&limit=200${from}`),
      )
      all.push(...page.data)
      cursor = page.next_cursor
    } while (cursor !== null)
    return all
  }

  const actions = () => listAll<Action>('/v1/actions')
  const alertsAbout = (ref: string) => receiver.deliveries().filter(delivery => refOf(delivery) === ref)
  return {
    projectId,
    api,
    receiver,
    connect: connection => api.post(`/v1/projects/${projectId}/connections`, connection),
    actions,
    action: async ref => (await actions()).find(action => action.provider_ref === ref),
    incidents: () => listAll('/v1/incidents'),
    alertsAbout,
    alertAbout: (ref, withinMs) =>
      until(`the alert about ${ref}`, () => alertsAbout(ref).find(isOpened), {
        timeoutMs: withinMs,
        seen: () => receiver.deliveries().map(delivery => [eventOf(delivery), refOf(delivery)]),
      }),
    stop: () => receiver.stop(),
  }
}

interface DeliveredBody {
  event?: AlertEvent
  data?: {
    action?: Action | null
    incident?: Incident
    operation?: Extract<Alert, { event: 'drift.detected' }>['data']['operation']
  }
}

const bodyOf = (delivery: ReceivedDelivery) => (delivery.body ?? {}) as DeliveredBody
export const eventOf = (delivery: ReceivedDelivery) => bodyOf(delivery).event
export const incidentOf = (delivery: ReceivedDelivery) => bodyOf(delivery).data?.incident
export const actionOf = (delivery: ReceivedDelivery) => bodyOf(delivery).data?.action ?? undefined
/** The provider's id of the action that a delivery is about. */
export const refOf = (delivery: ReceivedDelivery) => actionOf(delivery)?.provider_ref
export const isOpened = (delivery: ReceivedDelivery) => eventOf(delivery) === 'incident.opened'
