import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../src/bus/kafkajs/client.ts'

/**
 * How the proxy handles traffic: forward it, drop it silently, or refuse connections. A connection that lost a byte
 * drops everything from then on, as behind a router that has dropped its state: only new connections work again.
 */
export type ProxyMode = 'pass' | 'black_hole' | 'refuse'

export interface TcpProxy {
  /** The address of the proxy, which clients use instead of the server. */
  readonly address: Address
  mode: ProxyMode
  /**
   * Called with each chunk from the server. If it returns false, the chunk is dropped and the connection is closed: a
   * lost response, as after a network fault.
   */
  passResponse: (chunk: Buffer, client: Socket) => boolean
  /** Called with each chunk from a client before it is forwarded. */
  onRequest: (chunk: Buffer, client: Socket) => void
  /** Milliseconds until a chunk in either direction is forwarded. Chunks keep their order; 0 by default. */
  delayMs: (chunk: Buffer) => number
  /** Closes all open connections. */
  cutAll(): void
  stop(): Promise<void>
}

export interface TcpProxyOptions {
  /** Changes each chunk from the server before it is forwarded. */
  readonly rewriteResponse?: (chunk: Buffer) => Buffer
}

/** Starts a proxy before one TCP server, to simulate faults between client and server. */
export async function startTcpProxy(target: Address, options: TcpProxyOptions = {}): Promise<TcpProxy> {
  const { rewriteResponse = (chunk: Buffer) => chunk } = options
  const open = new Set<Socket>()
  const server = createServer(client => {
    if (proxy.mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(target)
    let silent = false
    const swallows = () => {
      silent ||= proxy.mode === 'black_hole'
      return silent
    }
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    const toServer = createLane(upstream, proxy)
    const toClient = createLane(client, proxy)
    client.on('data', (chunk: Buffer) => {
      if (swallows()) return
      proxy.onRequest(chunk, client)
      toServer(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (swallows()) return
      if (proxy.passResponse(chunk, client)) toClient(rewriteResponse(chunk))
      else client.resetAndDestroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const proxy: TcpProxy = {
    address: { host: '127.0.0.1', port },
    mode: 'pass',
    passResponse: () => true,
    onRequest: () => undefined,
    delayMs: () => 0,
    cutAll() {
      for (const socket of open) socket.resetAndDestroy()
    },
    async stop() {
      proxy.cutAll()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return proxy
}

/** Forwards chunks to a socket in their order, each after its delay. */
function createLane(to: Socket, proxy: Pick<TcpProxy, 'delayMs'>): (chunk: Buffer) => void {
  let last: Promise<unknown> | undefined
  return chunk => {
    const delayMs = proxy.delayMs(chunk)
    if (delayMs === 0 && last === undefined) {
      to.write(chunk)
      return
    }
    const due = delayMs === 0 ? undefined : sleep(delayMs)
    const own = Promise.all([last, due]).then(() => {
      if (!to.destroyed) to.write(chunk)
      if (last === own) last = undefined
    })
    last = own
  }
}
