import http, { type IncomingMessage, Server } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { needTurns } from './turns.ts'

/** A request to a simulated server. */
export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

const FIRST_PORT = 20_001
const ports = new WeakMap<Server, number>()
let servers: Server[] = []
const requests = new Set<() => void>()

/** Forgets the servers of an earlier run. Each has a timer of Node's own, which would keep the whole run in memory. */
export function forgetServers(): void {
  for (const cut of [...requests]) cut()
  for (const server of servers) server.close(() => {})
  servers = []
}

/** Servers listen without a socket, each on a port of its own. */
export function replaceListening(): void {
  Server.prototype.listen = function listen(this: Server, ...values: unknown[]) {
    ports.set(this, FIRST_PORT + servers.length)
    servers.push(this)
    const done = values.at(-1)
    process.nextTick(() => {
      this.emit('listening')
      if (typeof done === 'function') done()
    })
    return this
  } as typeof Server.prototype.listen
  Server.prototype.address = function address(this: Server) {
    return { address: '127.0.0.1', family: 'IPv4', port: ports.get(this) ?? 0 }
  }
  Object.defineProperty(Server.prototype, 'listening', {
    get(this: Server) {
      return ports.has(this)
    },
    set() {},
    configurable: true,
  })
}

/** The server that listens on a port. */
export function serverOn(port: number): Server {
  const server = servers[port - FIRST_PORT]
  if (server === undefined) throw new Error(`No server listens on port ${port}`)
  return server
}

/**
 * Sends a request over a connection in memory. Node parses both directions as over a socket.
 * @param signal cuts the connection; a request that is never answered would slow down the rest of the run
 */
export function request(
  server: Server,
  { method, path, headers, body }: HttpRequest,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const [near, far] = duplexPair()
  const { promise: answered, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const cut = () => {
    near.destroy()
    far.destroy()
    // A request that has no socket yet reports nothing.
    reject(new Error('The connection was cut'))
  }
  const endTurns = needTurns()
  const end = () => {
    signal?.removeEventListener('abort', cut)
    requests.delete(cut)
    endTurns()
  }
  requests.add(cut)
  signal?.addEventListener('abort', cut, { once: true })
  server.emit('connection', asSocket(far, ports.get(server) ?? 0))
  const sent = http.request({
    createConnection: () => asSocket(near, 1),
    method,
    path,
    headers: { ...headers, connection: 'close' },
  })
  sent.on('error', reject)
  sent.once('response', answer => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('error', reject)
    answer.once('end', () => {
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) })
      near.destroy()
      far.destroy()
    })
  })
  sent.end(body)
  return answered.finally(end)
}

/** The members of a socket that Node's HTTP uses beside those of a stream. */
function asSocket(stream: Duplex, localPort: number): never {
  const nothing = () => stream
  return Object.assign(stream, {
    remoteAddress: '10.0.0.1',
    remotePort: 1,
    localPort,
    setTimeout: nothing,
    setNoDelay: nothing,
    setKeepAlive: nothing,
    ref: nothing,
    unref: nothing,
    destroySoon: () => stream.destroy(),
  }) as never
}
