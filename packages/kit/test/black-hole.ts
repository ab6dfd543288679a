import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface BlackHole {
  /** A loopback address other than 127.0.0.1; ::1 if the machine has IPv6. */
  readonly address: string
  stop(): Promise<void>
}

/** Time limit of a test connection, in milliseconds. The kernel accepts a loopback connection much faster. */
const PROBE_MS = 200

/**
 * A loopback port whose packets are dropped without an answer, as by a firewall: its program accepts no connection, and
 * the kernel's queue of connections is full (listen(2), "backlog").
 */
export async function openBlackHole(port: number): Promise<BlackHole> {
  const hasIpv6 = Object.values(networkInterfaces()).some(list => list?.some(({ address }) => address === '::1'))
  const address = hasIpv6 ? '::1' : '127.0.0.2'
  const gate = new Int32Array(new SharedArrayBuffer(4))
  // A separate thread that blocks, because a running event loop would accept the connections.
  const worker = new Worker(
    `const { parentPort, workerData: { address, port, gate } } = require('node:worker_threads')
     const server = require('node:net').createServer().listen({ host: address, port, backlog: 1 }, () => {
       parentPort.postMessage('listening')
       Atomics.wait(gate, 0, 0)
       server.close()
     })`,
    { eval: true, workerData: { address, port, gate } },
  )
  await once(worker, 'message')
  const sockets: Socket[] = []
  while (await connects(address, port, sockets));
  return {
    address,
    async stop() {
      for (const socket of sockets) socket.destroy()
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
      await worker.terminate()
    },
  }
}

function connects(host: string, port: number, sockets: Socket[]): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port }, () => resolve(true))
    socket.on('error', () => {})
    sockets.push(socket)
    setTimeout(() => resolve(false), PROBE_MS)
  })
}
