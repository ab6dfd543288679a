import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts a server on loopback.
 * @param port 0, the default, chooses a free port
 * @param host 127.0.0.1 by default; on Linux any address of 127.0.0.0/8
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
