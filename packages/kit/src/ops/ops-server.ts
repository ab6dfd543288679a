import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'

export interface OpsOptions {
  readonly port: number
  readonly host: string
  /**
   * The reason why this process should be restarted; undefined if there is none. Never an unavailable dependency,
   * because a restart does not fix it.
   */
  live(): string | undefined
  /** The reason why this process should get no requests now; undefined if there is none. */
  ready(): Promise<string | undefined>
  readonly metrics: Metrics
}

export interface OpsServer {
  readonly port: number
  stop(): Promise<void>
}

const PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** Probes and Prometheus send one short request each. Whoever sends none, or slowly, gives the connection to others. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
const MAX_CONNECTIONS = 64

/** Serves /healthz, /readyz and /metrics on a separate port, which clients cannot reach. */
export async function startOpsServer(options: OpsOptions): Promise<OpsServer> {
  const server = createServer(LIMITS, (request, response) => {
    const startedAt = performance.now()
    const answer = (status: number, text: string) => {
      const route = PATHS.has(request.url ?? '') ? (request.url ?? '') : 'unknown'
      const durationS = (performance.now() - startedAt) / 1000
      options.metrics.recordHttpRequest({ method: request.method ?? '', route, status, durationS })
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
    }
    const check = (fault: string | undefined) => (fault === undefined ? answer(200, 'ok') : answer(503, fault))
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead && PATHS.has(request.url ?? '')) {
      response.setHeader('allow', 'GET, HEAD')
      return answer(405, 'Use GET')
    }
    switch (request.url) {
      case '/healthz':
        return check(options.live())
      case '/readyz':
        return void options.ready().then(check, error => answer(503, String(error)))
      case '/metrics':
        return void options.metrics.text().then(
          text => answer(200, text),
          error => answer(500, String(error)),
        )
      default:
        return answer(404, 'Try /healthz, /readyz or /metrics')
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  await listen(server, options.port, options.host)
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Listens, or rejects with the system's error, such as EADDRINUSE. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}
