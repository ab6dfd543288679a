/** Servers that no client accepts, in place of one broken member of a cluster. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TlsOptions } from 'node:tls'

export interface RefusingServer {
  /** `127.0.0.1:<port>` */
  readonly address: string
  /** The connections so far. */
  readonly connections: () => number
  stop(): Promise<void>
}

/** A server with this certificate that closes each connection after the handshake, if there is one, without an answer. */
export async function startRefusingServer(certificate: TlsOptions): Promise<RefusingServer> {
  const server = createServer(certificate, socket => {
    // Without reading, the close would be a reset.
    socket
      .on('error', () => undefined)
      .resume()
      .end()
  })
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async stop() {
      server.close()
      await once(server, 'close')
    },
  }
}
