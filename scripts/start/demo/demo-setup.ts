/** Sets up the demo: a simulated card processor, a receiver of alerts, and a project that connects both to Backstop. */
import { randomBytes } from 'node:crypto'
import type { AlertChannel } from '@backstop/channels'
import type { Connection, CreatedConnection, OutOfBand } from '@backstop/contracts'
import {
  type CardProcessor,
  createCardProcessor,
  createWebhookEndpoint,
  type Receiver,
  startProcessorApi,
  startReceiver,
  type WebhookEndpoint,
} from '@backstop/simulator'
import { ApiRefusal, type ManagementApi } from '../management-api.ts'
import type { DemoRecord } from './demo-records.ts'

export interface DemoSetup {
  record: DemoRecord
  inboundUrl: string
  processor: CardProcessor
  processorUrl: string
  endpoint: WebhookEndpoint
  receiver: Receiver
  /** True if the project and the connection are from an earlier start. */
  isReused: boolean
  /** The connection's setting out_of_band, which a person may have changed. */
  outOfBand: OutOfBand
  stop(): Promise<void>
}

export interface DemoSetupOptions {
  /** The record of an earlier start, if there is one. */
  kept: DemoRecord | undefined
  /** Stores the demo's record for the next start. */
  saveRecord(record: DemoRecord): void
  ports: { receiver: number; processor: number }
  /** The loopback address on which the receiver listens; 127.0.0.1 by default. */
  receiverHost?: string
  ingressUrl: string
  api: ManagementApi
}

/**
 * Starts the processor and the receiver, and connects them to Backstop by a project, a connection and a channel, through the
 * public API. The project, connection and channel of an earlier start are used again.
 */
export async function setUpDemo({
  kept: keptRecord,
  saveRecord,
  ports,
  receiverHost = '127.0.0.1',
  ingressUrl,
  api,
}: DemoSetupOptions): Promise<DemoSetup> {
  const now = Date.now
  const existing = keptRecord === undefined ? undefined : await findConnection(keptRecord, api)
  const kept = existing === undefined ? undefined : keptRecord
  const { account, outOfBand } = existing ?? (await connectAccount(api))
  const record = await completeRecord({ account, kept }, ports, receiverHost, api)
  saveRecord(record)

  const processor = createCardProcessor({ now })
  const processorApi = await startProcessorApi({
    processor,
    readKeys: [],
    writeKeys: [record.processor_key],
    port: ports.processor,
    now,
  })
  const receiver = await startReceiver({ port: ports.receiver, host: receiverHost, secret: record.channel_secret, now })
  const inboundUrl = `${ingressUrl}/v1/webhooks/processor/${record.connection_id}`
  const endpoint = createWebhookEndpoint({
    url: inboundUrl,
    credential: { kind: 'processor', secrets: [record.signing_secret] },
    // The delay is like that of a real processor, which sends an event some time after its API has answered.
    disturbance: { delay: { minMs: 300, maxMs: 500 } },
    now,
  })
  endpoint.follow(processor)
  return {
    record,
    inboundUrl,
    processor,
    processorUrl: processorApi.url,
    endpoint,
    receiver,
    isReused: kept !== undefined,
    outOfBand,
    async stop() {
      await Promise.all([endpoint.stop(), receiver.stop(), processorApi.stop()])
    },
  }
}

type Account = Pick<DemoRecord, 'project_id' | 'connection_id' | 'signing_secret'>

interface ConnectedAccount {
  account: Account
  outOfBand: OutOfBand
}

/** The connection of an earlier start. Undefined if it is not in the database, because `.backstop/stack` was removed. */
async function findConnection(record: DemoRecord, api: ManagementApi): Promise<ConnectedAccount | undefined> {
  try {
    const path = `/v1/projects/${record.project_id}/connections/${record.connection_id}`
    const { out_of_band } = await api.get<Connection>(path)
    return { account: record, outOfBand: out_of_band }
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return undefined
    throw error
  }
}

async function completeRecord(
  { account, kept }: { account: Account; kept: DemoRecord | undefined },
  ports: { receiver: number; processor: number },
  receiverHost: string,
  api: ManagementApi,
): Promise<DemoRecord> {
  const channel_secret = kept?.channel_secret ?? `whsec_${randomBytes(24).toString('base64')}`
  const channel_id =
    (await findUsableChannel(kept, ports.receiver, api)) ??
    (await makeChannel(api, account.project_id, `http://${receiverHost}:${ports.receiver}/alerts`, channel_secret))
      .channel_id
  return {
    project_id: account.project_id,
    connection_id: account.connection_id,
    signing_secret: account.signing_secret,
    channel_id,
    channel_secret,
    receiver_port: ports.receiver,
    processor_port: ports.processor,
    processor_key: kept?.processor_key ?? `sk_test_${randomBytes(18).toString('hex')}`,
  }
}

/** The id of the channel of an earlier start, if it exists, is enabled and delivers to the receiver. */
async function findUsableChannel(
  kept: DemoRecord | undefined,
  receiverPort: number,
  api: ManagementApi,
): Promise<string | undefined> {
  if (kept === undefined || kept.receiver_port !== receiverPort) return undefined
  const { data } = await api.get<{ data: AlertChannel[] }>(`/v1/alert-channels?project_id=${kept.project_id}&limit=200`)
  const channel = data.find(({ channel_id }) => channel_id === kept.channel_id)
  return channel?.enabled && channel.health.state !== 'disabled' ? channel.channel_id : undefined
}

async function connectAccount(api: ManagementApi): Promise<ConnectedAccount> {
  const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Demo shop', demo: true })
  const { connection_id, signing_secret, out_of_band } = await api.post<CreatedConnection>(
    `/v1/projects/${project_id}/connections`,
    { kind: 'processor', name: 'Card processor' },
  )
  return { account: { project_id, connection_id, signing_secret: signing_secret ?? '' }, outOfBand: out_of_band }
}

function makeChannel(api: ManagementApi, projectId: string, url: string, secret: string): Promise<AlertChannel> {
  return api.post<AlertChannel>('/v1/alert-channels', {
    project_id: projectId,
    name: 'Demo receiver',
    events: ['incident.opened'],
    config: { kind: 'webhook', url, secret },
  })
}
