import type { ProviderKind } from '@backstop/contracts'
import type { OutgoingMessage } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, createMemoryBus, type MemoryBus } from '@backstop/kit/test'
import { SIGNERS } from '@backstop/providers/test'
import { createApp, type IngressApp, type IngressPorts, type IngressSettings } from '../src/app.ts'
import { connectionDocument, secretBox } from './connection-documents.ts'
import { type HttpAnswer, post } from './http-client.ts'
import { createMemoryConnections, type MemoryConnections } from './memory-connections.ts'

export const SETTINGS: IngressSettings = {
  host: '127.0.0.1',
  port: 0,
  credentialHeaders: {
    processor: ['processor-signature', 'stripe-signature'],
    reseller: ['reseller-signature', 'paddle-signature'],
    subscription: ['authorization'],
  },
  publishTimeoutMs: 2_500,
  lingerMs: 1,
  queueMaxWaitMs: 100,
  queueMaxMessages: 1_000,
  queueMaxBytes: 8 * 1_048_576,
  bodiesMaxBytes: 8 * 1_048_576,
  bodyTimeoutMs: 5_000,
  sockets: { maxSockets: 5_000, maxPerAddress: 1_000, isTrustedProxy: () => false },
  rateLimit: { perSecond: 10_000, burst: 10_000 },
}

/** The secrets of the connections con_<provider>, which exist in every test. */
export const SECRETS: Readonly<Record<ProviderKind, string>> = {
  processor: 'whsec_secret-of-the-processor',
  reseller: 'pdl_ntfset_secret-of-the-reseller',
  subscription: 'password-of-the-subscription',
}

/** The smallest event that the provider could send. */
export function eventOf(provider: ProviderKind, id: string): Record<string, unknown> {
  switch (provider) {
    case 'processor':
      return {
        id,
        object: 'event',
        type: 'refund.created',
        data: { object: { object: 'refund', payment_intent: 'pi_1' } },
      }
    case 'reseller':
      return { event_id: id, event_type: 'adjustment.created', data: { transaction_id: 'txn_1' } }
    case 'subscription':
      return { id, event_type: 'payment_refunded', content: { subscription: { id: 'sub_1' } } }
  }
}

/** The header that authenticates a body to con_<provider> at the given time. */
export function credentialOf(provider: ProviderKind, body: Buffer | string, atMs = Date.now()): Record<string, string> {
  const signer = SIGNERS[provider]
  return { [signer.header]: signer.sign(Buffer.from(body), [SECRETS[provider]], atMs) }
}

export interface MemoryIngress {
  readonly app: IngressApp
  readonly bus: MemoryBus
  readonly connections: MemoryConnections
  readonly base: string
  /** All log lines, parsed. */
  readonly lines: Record<string, unknown>[]
  metrics(): Promise<string>
  /** Posts an authentic event to con_<provider>. */
  postEvent(provider: ProviderKind, id: string): Promise<HttpAnswer>
  stop(): Promise<void>
}

/** Starts an ingress on loopback with a broker and a store in memory. */
export async function startMemoryIngress(
  changed: {
    settings?: Partial<IngressSettings>
    ports?: Partial<IngressPorts>
    sendResultOf?: (messages: readonly OutgoingMessage[]) => 'stored' | 'refused' | 'answer_lost'
  } = {},
): Promise<MemoryIngress> {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger('ingress', 'debug', { write: line => lines.push(JSON.parse(line)) })
  const bus = createMemoryBus({
    clock: systemClock,
    partitions: 1,
    logger,
    ...(changed.sendResultOf === undefined ? {} : { sendResultOf: changed.sendResultOf }),
  })
  const connections = createMemoryConnections({ secretBox, logger })
  for (const provider of Object.keys(SECRETS) as ProviderKind[]) {
    connections.save(connectionDocument(`con_${provider}`, provider, [SECRETS[provider]]))
  }
  const metrics = createMetrics('ingress')
  const load = { judge: () => ({ kind: 'bearable' }) as const }
  const ports = {
    bus,
    codec: createFixedCodec(),
    connections,
    load,
    clock: { ...systemClock, isMeasured: () => true },
    logger,
    metrics,
    ...changed.ports,
  }
  const app = createApp(ports, { ...SETTINGS, ...changed.settings })
  await app.start()
  const base = `http://127.0.0.1:${app.port()}`
  return {
    app,
    bus,
    connections,
    base,
    lines,
    metrics: () => metrics.text(),
    postEvent(provider, id) {
      const body = JSON.stringify(eventOf(provider, id))
      return post(`${base}/v1/webhooks/${provider}/con_${provider}`, body, credentialOf(provider, body))
    },
    stop: () => app.stop(),
  }
}
