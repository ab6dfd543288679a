/** The world around Backstop that the demo needs: a card processor with its API, a customer's receiver, and what joins them. */
import { randomBytes } from 'node:crypto'
import type { AlertChannel } from '@backstop/channels'
import type { Connection } from '@backstop/contracts'
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
import { type DemoRecord, writeDemoRecord } from './demo-records.ts'

export interface DemoWorld {
  record: DemoRecord
  inboundUrl: string
  processor: CardProcessor
  processorUrl: string
  endpoint: WebhookEndpoint
  receiver: Receiver
  /** The project, the connection and the channel were there from an earlier start. */
  reused: boolean
  stop(): Promise<void>
}

export interface DemoWorldOptions {
  /** File that keeps what the demo made, for the next start to use again. */
  recordPath: string
  /** What an earlier start kept there. */
  kept: DemoRecord | undefined
  ports: { receiver: number; processor: number }
  /** An address of loopback that the receiver listens on; 127.0.0.1 when left out. */
  receiverHost?: string
  ingressUrl: string
  api: ManagementApi
}

/**
 * Starts the processor and the receiver and joins them by a project, a connection and a channel, all through the public
 * API. What an earlier start made is used again.
 */
export async function makeDemoWorld({
  recordPath,
  kept: keptRecord,
  ports,
  receiverHost = '127.0.0.1',
  ingressUrl,
  api,
}: DemoWorldOptions): Promise<DemoWorld> {
  const now = Date.now
  const kept = await usableRecord(keptRecord, api)
  const record = await completeRecord(kept, ports, receiverHost, api)
  writeDemoRecord(recordPath, record)

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
    // As with the real one, an event leaves a moment after the API has answered.
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
    reused: kept !== undefined,
    async stop() {
      await Promise.all([endpoint.stop(), receiver.stop(), processorApi.stop()])
    },
  }
}

/**
 * The record if the database still knows its connection: after `.backstop/stack` was removed it does not. The setting
 * goes back to `auto`, whatever somebody tried out since, because a demo on an ignored account would show nothing.
 */
async function usableRecord(record: DemoRecord | undefined, api: ManagementApi): Promise<DemoRecord | undefined> {
  if (record === undefined) return undefined
  try {
    await api.patch(`/v1/projects/${record.project_id}/connections/${record.connection_id}`, { out_of_band: 'auto' })
    return record
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return undefined
    throw error
  }
}

async function completeRecord(
  kept: DemoRecord | undefined,
  ports: { receiver: number; processor: number },
  receiverHost: string,
  api: ManagementApi,
): Promise<DemoRecord> {
  const joined = kept ?? (await joinAccount(api))
  const channel_secret = kept?.channel_secret ?? `whsec_${randomBytes(24).toString('base64')}`
  const channel_id =
    (await usableChannel(kept, ports.receiver, api)) ??
    (await makeChannel(api, joined.project_id, `http://${receiverHost}:${ports.receiver}/alerts`, channel_secret))
      .channel_id
  return {
    project_id: joined.project_id,
    connection_id: joined.connection_id,
    signing_secret: joined.signing_secret,
    channel_id,
    channel_secret,
    receiver_port: ports.receiver,
    processor_port: ports.processor,
    processor_key: kept?.processor_key ?? `sk_test_${randomBytes(18).toString('hex')}`,
  }
}

/** The kept channel if it still is there, works and leads to the receiver. */
async function usableChannel(
  kept: DemoRecord | undefined,
  receiverPort: number,
  api: ManagementApi,
): Promise<string | undefined> {
  if (kept === undefined || kept.receiver_port !== receiverPort) return undefined
  const { data } = await api.get<{ data: AlertChannel[] }>(`/v1/alert-channels?project_id=${kept.project_id}&limit=200`)
  const channel = data.find(({ channel_id }) => channel_id === kept.channel_id)
  return channel?.enabled && channel.health.state !== 'disabled' ? channel.channel_id : undefined
}

async function joinAccount(
  api: ManagementApi,
): Promise<Pick<DemoRecord, 'project_id' | 'connection_id' | 'signing_secret'>> {
  const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Demo shop' })
  const connection = await api.post<Connection & { signing_secret: string }>(`/v1/projects/${project_id}/connections`, {
    kind: 'processor',
    name: 'Card processor',
  })
  return { project_id, connection_id: connection.connection_id, signing_secret: connection.signing_secret }
}

function makeChannel(api: ManagementApi, projectId: string, url: string, secret: string): Promise<AlertChannel> {
  return api.post<AlertChannel>('/v1/alert-channels', {
    project_id: projectId,
    name: 'Demo receiver',
    events: ['incident.opened'],
    config: { kind: 'webhook', url, secret },
  })
}
