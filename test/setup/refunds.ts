/** Makes refunds of the card processor, with their events and operations. An operation explains 95 of 100. */
import { type ConnectionDocument, type InboundEvent, type Operation, partitionKey } from '@backstop/contracts'
import { operation } from '@backstop/verdict/test'
import { PROCESSOR_EVENTS } from '../../packages/providers/test/samples/processor.ts'

/** One refund in twenty is unexplained. */
const UNEXPLAINED_ONE_IN = 20
const CONNECTIONS = 20
const DAY_MS = 86_400_000

/** One refund at the provider. */
export interface Refund {
  readonly id: string
  readonly projectId: string
  readonly connectionId: string
  /** The time of the refund in milliseconds since the epoch. It is a whole second, as at the provider. */
  readonly atMs: number
  readonly isExplained: boolean
  /** In cents; those of the provider's sample by default. */
  readonly amount?: number
  /** The customer's id; that of the provider's sample by default. */
  readonly customer?: string
}

/**
 * Makes `count` refunds with the present time.
 * @param name letters and digits, unique in one database
 * @param connections the number of billing connections, whose turns they take
 */
export function makeRefunds(name: string, count: number, connections = CONNECTIONS): Refund[] {
  const atMs = Math.floor(Date.now() / 1_000) * 1_000
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}${String(index).padStart(20, '0')}`,
    projectId: `prj_${index % connections}`,
    connectionId: `con_${index % connections}`,
    atMs,
    isExplained: index % UNEXPLAINED_ONE_IN !== 0,
  }))
}

/** The number of unexplained refunds among `count`. */
export function unexplainedOf(count: number): number {
  return Math.ceil(count / UNEXPLAINED_ONE_IN)
}

/** True if the refund with this message key is unexplained. The key ends with the number of the refund. */
export function isUnexplained(key: string): boolean {
  return Number(key.slice(-9)) % UNEXPLAINED_ONE_IN === 0
}

/** The connections of the refunds. They alert, and have no read key. */
export function connectionsOfRefunds(connections = CONNECTIONS): ConnectionDocument[] {
  return Array.from({ length: connections }, (_, index) => {
    const settings = {
      kind: 'processor',
      name: `Account ${index}`,
      out_of_band: 'alert',
      burst_alarm: false,
      status: 'active',
      read_key: null,
      site: null,
      api_base: null,
    } as const
    const madeAt = new Date(Date.now() - DAY_MS)
    const made = { version: 1, created_at: madeAt, updated_at: madeAt, deleted_at: null }
    return { _id: `con_${index}`, project_id: `prj_${index}`, inbound_secrets: [], ...settings, ...made }
  })
}

/** The event of a refund, as ingress publishes it. @param account the connected account, if it is of one */
export function eventOf({ id, projectId, connectionId, atMs, ...details }: Refund, account?: string): InboundEvent {
  const sample = PROCESSOR_EVENTS['refund.created']
  const event_id = `evt_${id}`
  const created = atMs / 1_000
  const { amount, customer } = { ...sample.data.object, ...details }
  const ids = { id: `re_${id}`, charge: `ch_${id}`, payment_intent: `pi_${id}`, amount, customer }
  return {
    provider: 'processor',
    project_id: projectId,
    connection_id: connectionId,
    event_id,
    event_type: sample.type,
    received_at: new Date().toISOString(),
    body: {
      ...sample,
      ...(account === undefined ? {} : { account }),
      id: event_id,
      created,
      request: { id: `req_${id}`, idempotency_key: null },
      data: { object: { ...sample.data.object, ...ids, created } },
    },
  }
}

/** The message key that ingress gives to the event of a refund. */
export function keyOf({ id, projectId }: Refund): string {
  return partitionKey(projectId, `pi_${id}`)
}

/** The operation that explains a refund. */
export function operationOf({ id, projectId, connectionId, atMs, amount }: Refund): Operation {
  const at = new Date(atMs).toISOString()
  return operation({
    operation_id: `op_${id}`,
    project_id: projectId,
    connection_id: connectionId,
    subject: `pi_${id}`,
    ...(amount === undefined ? {} : { amount }),
    provider_ref: `re_${id}`,
    refs: [`${projectId}/processor/pi_${id}`, `${projectId}/processor/re_${id}`],
    executing_at: at,
    ended_at: at,
    created_at: at,
    updated_at: at,
  })
}
