import { connect, createServer, type Socket } from 'node:net'
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
  passResponse: (chunk: Buffer) => boolean
  /** Called with each chunk from a client before it is forwarded. */
  onRequest: (chunk: Buffer) => void
  /** Closes all open connections. */
  cutAll(): void
  stop(): Promise<void>
}

/** Starts a proxy before one TCP server, to simulate faults between client and server. */
export async function startTcpProxy(target: Address): Promise<TcpProxy> {
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
    client.on('data', (chunk: Buffer) => {
      if (swallows()) return
      proxy.onRequest(chunk)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (swallows()) return
      if (proxy.passResponse(chunk)) client.write(chunk)
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
