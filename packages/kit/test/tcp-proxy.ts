import { connect, createServer, type Socket } from 'node:net'
import type { Address } from '../src/bus/kafkajs-client.ts'

/**
 * What the proxy does with traffic: pass it on, swallow all of it in silence, or refuse connections. A connection that
 * lost a byte to silence stays silent for ever, as behind a router that forgot it: only a new one gets through.
 */
export type ProxyMode = 'pass' | 'black_hole' | 'refuse'

export interface TcpProxy {
  /** Where clients connect to instead. */
  readonly address: Address
  mode: ProxyMode
  /**
   * Sees each chunk from the server; a chunk that it answers false for is swallowed, and the connection is cut: a lost
   * response, as when a network or a broker fails between doing the work and saying so.
   */
  passResponse: (chunk: Buffer) => boolean
  /** Sees each chunk from a client, before it is passed on. */
  onRequest: (chunk: Buffer) => void
  /** Cuts every connection that is open now. */
  cutAll(): void
  stop(): Promise<void>
}

/** A proxy in front of one TCP server, for faults between client and server. */
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
