import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface BlackHole {
  /** Another loopback address than 127.0.0.1: ::1 where the machine has IPv6. */
  readonly address: string
  stop(): Promise<void>
}

/** So soon the kernel would have let a connection to loopback stand, in milliseconds. */
const PROBE_MS = 200

/**
 * A port of loopback whose packets are dropped without an answer, as by a firewall or a route that leads nowhere: its
 * program takes no connection out of the kernel's queue, and that is full (listen(2), "backlog").
 */
export async function openBlackHole(port: number): Promise<BlackHole> {
  const hasIpv6 = Object.values(networkInterfaces()).some(list => list?.some(({ address }) => address === '::1'))
  const address = hasIpv6 ? '::1' : '127.0.0.2'
  const gate = new Int32Array(new SharedArrayBuffer(4))
  // In a thread of its own, which does nothing else: where an event loop turns, connections are taken.
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
