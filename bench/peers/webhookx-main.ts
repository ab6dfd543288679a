/**
 * WebhookX with a PostgreSQL and a Redis of its own. WEBHOOKX is the path of the program; `redis-server` is in the PATH. Linux only.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import { choosePorts } from '@backstop/stack'
import { answerBenchmark, stopWithBenchmark } from './answers.ts'
import { POSTGRES_USER, startPostgres } from './postgres.ts'
import { startProgram } from './programs.ts'

const { WEBHOOKX = '', SECRET = '' } = process.env
/** One event source. Its events are acknowledged from Redis (`async`), after a check of their signatures. */
const CONFIGURATION = {
  sources: [
    {
      name: 'benchmark',
      type: 'http',
      async: true,
      config: { http: { path: '/', methods: ['POST'] } },
      plugins: [
        {
          name: 'hmac-auth',
          config: { hash: 'sha-256', encoding: 'hex', signature_header: 'x-signature', secret: SECRET },
        },
      ],
    },
  ],
}
/** The length of a clock tick in /proc, which is the same on all usual Linux systems. */
const TICK_MS = 10

const stops: (() => Promise<void>)[] = []
stopWithBenchmark(() => Promise.all(stops.map(stop => stop())))
const postgres = await startPostgres()
stops.push(postgres.close)
const ports = await choosePorts({ redis: {}, proxy: {}, admin: {}, status: {} })
startRedis(ports.redis)
const env = {
  // By default it writes a line for each request.
  WEBHOOKX_ACCESS_LOG_ENABLED: 'false',
  ...process.env,
  WEBHOOKX_DATABASE_PORT: String(postgres.port),
  WEBHOOKX_DATABASE_USERNAME: POSTGRES_USER,
  WEBHOOKX_DATABASE_DATABASE: 'postgres',
  WEBHOOKX_REDIS_PORT: String(ports.redis),
  WEBHOOKX_PROXY_QUEUE_REDIS_PORT: String(ports.redis),
  WEBHOOKX_PROXY_LISTEN: `127.0.0.1:${ports.proxy}`,
  WEBHOOKX_ADMIN_LISTEN: `127.0.0.1:${ports.admin}`,
  WEBHOOKX_STATUS_LISTEN: `127.0.0.1:${ports.status}`,
  // By default it reports to its makers.
  WEBHOOKX_ANONYMOUS_REPORTS: 'false',
}
execFileSync(WEBHOOKX, ['db', 'up'], { env, stdio: 'inherit', timeout: 60_000 })
const { pid } = startProgram(WEBHOOKX, ['start'], { env })
await configure()
answerBenchmark({ port: ports.proxy, cpuMs: () => cpuMsOf(pid!), stored: () => postgres.count('events') })

/** Starts Redis as WebhookX's docker-compose.yml does: written to a log, which is synced once a second. */
function startRedis(port: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-peer-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const log = ['--appendonly', 'yes', '--appendfsync', 'everysec']
  startProgram('redis-server', ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, ...log])
}

/** Sends the configuration, and waits until the source answers. */
async function configure(): Promise<void> {
  const [admin, proxy] = [ports.admin, ports.proxy].map(port => `http://127.0.0.1:${port}`)
  const sync = () =>
    fetch(`${admin}/workspaces/default/config/sync`, {
      method: 'POST',
      // Its route for JSON answers "EOF". JSON is also YAML.
      headers: { 'content-type': 'application/yaml' },
      body: JSON.stringify(CONFIGURATION),
    })
  const answer = await until('WebhookX to answer', () => sync().catch(() => undefined), { timeoutMs: 30_000 })
  if (!answer.ok) throw new Error(`WebhookX refused its configuration: ${answer.status} ${await answer.text()}`)
  const isRouted = async () => (await fetch(`${proxy}/`, { method: 'POST', body: '{}' })).status === 401
  await until('WebhookX to refuse an event without a signature', isRouted, { timeoutMs: 30_000 })
}

/** The processor time of a process. Its name, which may contain spaces, is in parentheses. */
function cpuMsOf(process: number): number {
  const fields = readFileSync(`/proc/${process}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
