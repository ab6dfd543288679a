import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts a server on 127.0.0.1.
 * @param port a free one when left out or 0
 * @throws Error EADDRINUSE when the port is taken
 */
export async function listenOnLoopback(
  server: Server,
  port = 0,
): Promise<{ url: string; port: number; stop(): Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
  const taken = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
