/**
 * A product with a Kafka and a MongoDB of its own, which tests may stop. Its services send heartbeats to the receiver of the test, and
 * their registry accepts connections and never answers.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { SERVICES } from '../../scripts/start/service-environment.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'

export const RECHECK_DELAY_MS = 1_500
export const HEARTBEAT_EVERY_MS = 2_000
export const ALARM_AFTER_MS = 12_000

/** A report to the alarm URL of the heartbeat, and when it came. */
export interface Report {
  readonly id: string
  readonly event: string
  readonly text: string
  readonly cause: string
  readonly silent_seconds: number
  readonly last_returned_at: string | null
  readonly atMs: number
}

interface OwnServers {
  readonly product: Product
  readonly reports: readonly Report[]
  /** When the heartbeat's URL for pings was called. */
  readonly pings: readonly number[]
}

let own: OwnServers | undefined
const stops: (() => unknown)[] = []

/** @throws Error before openOwnServers */
export function ownServers(): OwnServers {
  if (own === undefined) throw new Error('The product with its own servers is not started')
  return own
}

export async function openOwnServers(): Promise<void> {
  const reports: Report[] = []
  const pings: number[] = []
  const monitor = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') pings.push(Date.now())
      else reports.push({ ...(JSON.parse(body) as Report), atMs: Date.now() })
      response.end('ok')
    })
  })
  const hangingRegistry = createServer(() => {})
  const urls: string[] = []
  for (const server of [monitor, hangingRegistry]) {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    stops.push(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  const [url, SCHEMA_REGISTRY_URL] = urls as [string, string]
  const { registry, smtp, mail } = stackUrls()
  const product = await startProduct({
    dataDir: dataFolder('own-servers'),
    // The registry and the mail server are not stopped, so they are those of the test run.
    env: { ...process.env, BACKSTOP_STACK: 'embedded', SCHEMA_REGISTRY_URL: registry, SMTP_URL: smtp, MAIL_URL: mail },
    topicPrefix: `own-servers-${process.pid}-${Date.now().toString(36)}.`,
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: {
      ...Object.fromEntries(SERVICES.map(service => [service, { SCHEMA_REGISTRY_URL }])),
      'admin-api': {
        SCHEMA_REGISTRY_URL,
        HEARTBEAT: 'on',
        HEARTBEAT_EVERY_MS: String(HEARTBEAT_EVERY_MS),
        HEARTBEAT_ALARM_AFTER_MS: String(ALARM_AFTER_MS),
        HEARTBEAT_ALARM_URL: `${url}/alarm`,
        HEARTBEAT_PING_URL: `${url}/ping`,
      },
    },
  })
  stops.push(() => product.stop())
  own = { product, reports, pings }
}

export async function closeOwnServers(): Promise<void> {
  for (const stop of stops.reverse()) await stop()
}
