/**
 * stripe-sync-engine as a server, with a PostgreSQL of its own: the route of its Fastify application on node:http, without that
 * application's log lines.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerBenchmark, stopWithBenchmark } from './answers.ts'
import { requirePeer } from './install.ts'
import { startPostgres } from './postgres.ts'

/** The part of the package that is used. */
interface StripeSyncEngine {
  readonly runMigrations: (config: { databaseUrl: string; schema: string; logger: object }) => Promise<void>
  readonly StripeSync: new (config: {
    readonly poolConfig: { readonly connectionString: string }
    readonly schema: string
    readonly stripeSecretKey: string
    readonly stripeWebhookSecret: string
  }) => { processWebhook(body: Buffer, signature: string): Promise<void>; close(): Promise<void> }
}

const SCHEMA = 'stripe'
const { SECRET = '' } = process.env
const HEADERS = { 'content-type': 'application/json' }

const stops: (() => Promise<void>)[] = []
stopWithBenchmark(() => Promise.all(stops.map(stop => stop())))
const postgres = await startPostgres()
const { runMigrations, StripeSync } = requirePeer('@supabase/stripe-sync-engine') as StripeSyncEngine
const write = (...parts: unknown[]) => void process.stderr.write(`${parts.join(' ')}\n`)
await runMigrations({ databaseUrl: postgres.url, schema: SCHEMA, logger: { info: write, error: write } })
const sync = new StripeSync({
  poolConfig: { connectionString: postgres.url },
  schema: SCHEMA,
  stripeSecretKey: 'sk_test_unused',
  stripeWebhookSecret: SECRET,
})
stops.push(postgres.close, () => sync.close())

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const server = createServer(async (request, response) => {
  try {
    await sync.processWebhook(await bodyOf(request), String(request.headers['stripe-signature']))
    response.writeHead(200, HEADERS).end('{"received":true}')
  } catch (error) {
    write(error)
    response.writeHead(400).end()
  }
})
server.keepAliveTimeout = 75_000
server.listen(0, '127.0.0.1', () =>
  answerBenchmark({
    port: (server.address() as AddressInfo).port,
    cpuMs() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000
    },
    stored: () => postgres.count(`${SCHEMA}.refunds`),
  }),
)
