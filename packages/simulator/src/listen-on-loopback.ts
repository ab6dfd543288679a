import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts a server on loopback.
 * @param port a free one by default or for 0
 * @param host 127.0.0.1 by default; Linux has all of 127.0.0.0/8
 * @throws Error EADDRINUSE if the port is in use
 */
export async function listenOnLoopback(
  server: Server,
  port = 0,
  host = '127.0.0.1',
): Promise<{ url: string; port: number; stop(): Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const taken = (server.address() as AddressInfo).port
  return {
    url: `http://${host}:${taken}`,
    port: taken,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
