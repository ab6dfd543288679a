import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** Starts a CONNECT proxy on loopback that connects every tunnel to one port. */
export async function startTunnelProxy(port: number): Promise<{ url: string; stop(): void }> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const onward = connect(port, '127.0.0.1')
      onward.on('error', () => socket.destroy())
      socket.on('close', () => onward.destroy())
      socket.pipe(onward).pipe(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => void server.close() }
}
