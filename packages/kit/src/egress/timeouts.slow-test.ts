/** Tests of time limits that take many seconds. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { openBlackHole } from '../../test/black-hole.ts'
import { createEgress } from './egress.ts'
import { egressReason } from './failure.ts'

const allowCidrs = ['127.0.0.0/8', '::1/128']
const egress = createEgress({ allowCidrs, denyCidrs: [], logger: pino({ level: 'silent' }) })
afterAll(() => egress.stop())

/** Returns the failure reason and the time until the failure, in milliseconds. */
async function measureFailure(url: string) {
  const startedAtMs = performance.now()
  const error = await egress.request({ url, method: 'POST', headers: {}, body: 'x' }).catch(error => error)
  return { reason: egressReason(error), afterMs: performance.now() - startedAtMs }
}

/** Starts a receiver that accepts connections and sends nothing. */
async function startSilentReceiver() {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    socket.on('error', () => {})
    sockets.push(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe.concurrent('a receiver is given', () => {
  test('5 s to accept a connection', async () => {
    const silent = await startSilentReceiver()
    const hole = await openBlackHole(silent.port)
    const host = hole.address.includes(':') ? `[${hole.address}]` : hole.address
    const { reason, afterMs } = await measureFailure(`http://${host}:${silent.port}/`)
    expect(reason).toBe('connect_timeout')
    expect(Math.round(afterMs / 1_000)).toBeOneOf([5, 6])
    await hole.stop()
    silent.stop()
  })

  test('15 s to begin its answer', async () => {
    const silent = await startSilentReceiver()
    const { reason, afterMs } = await measureFailure(`http://127.0.0.1:${silent.port}/`)
    expect(reason).toBe('headers_timeout')
    expect(Math.round(afterMs / 1_000)).toBeOneOf([15, 16])
    silent.stop()
  })
})
