import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { checkWall } from './check-wall.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step()
})

const HOST = '127.0.0.1'
const check = (targets: { host: string; port: number }[], patienceMs = 0, report: (line: string) => void = () => {}) =>
  checkWall({ targets, connectTimeoutMs: 300, patienceMs, everyMs: 20, report })

async function listen(server: Server = createServer(socket => socket.destroy()), port = 0): Promise<number> {
  await new Promise<void>(resolve => server.listen(port, HOST, resolve))
  cleanUp.push(() => server.close())
  return (server.address() as AddressInfo).port
}

async function refusingPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** A port that is open and says nothing: its thread accepts no connection, and the few that wait unaccepted fill its queue. */
async function silentPort(): Promise<number> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const server = require('node:net').createServer()
     server.listen({ host: '${HOST}', port: 0, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port)
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
     })`,
    { eval: true },
  )
  cleanUp.push(() => worker.terminate())
  const port = await new Promise<number>(resolve => worker.once('message', resolve))
  const waiting = Array.from({ length: 4 }, () => connect(port, HOST).on('error', () => {}))
  cleanUp.push(() => {
    for (const socket of waiting) socket.destroy()
  })
  await Promise.all(waiting.slice(0, 2).map(socket => new Promise(resolve => socket.once('connect', resolve))))
  return port
}

test('what accepts is a breach, told of with what to do', async () => {
  const port = await listen()
  const verdict = await check([{ host: HOST, port }])
  expect(verdict.state).toBe('breached')
  expect(verdict.reason).toContain(`reached ${HOST}:${port} (${HOST}) from a pod that may not`)
  expect(verdict.reason).toContain('Turn on enforcement')
})

test('one that accepts among many that refuse is a breach', async () => {
  const ports = [await refusingPort(), await listen(), await refusingPort()]
  expect((await check(ports.map(port => ({ host: HOST, port })))).state).toBe('breached')
})

test('what refuses is blocked', async () => {
  const port = await refusingPort()
  expect(await check([{ host: HOST, port }])).toEqual({
    state: 'stands',
    reason: `the network policies are enforced: could not reach ${HOST}:${port} (ECONNREFUSED)`,
  })
})

test('what never answers is blocked', async () => {
  const verdict = await check([{ host: HOST, port: await silentPort() }])
  expect(verdict.state).toBe('stands')
  expect(verdict.reason).toContain('(no answer within 300 ms)')
})

test('policies that take effect after the pod began are enforced', async () => {
  const server = createServer(socket => socket.destroy())
  const port = await listen(server)
  const told: string[] = []
  const verdict = await check([{ host: HOST, port }], 60_000, line => {
    told.push(line)
    server.close()
  })
  expect(verdict.state).toBe('stands')
  expect(told).toEqual([`reached ${HOST}:${port} (${HOST}): giving the policies time to take effect`])
})

test('a name that DNS does not know proves nothing, and is waited for', async () => {
  // Something else is reached in the end, or this would wait for ever.
  const late = await refusingPort()
  const told: string[] = []
  const verdict = await check(
    [
      { host: 'backstop-wall-check.invalid', port: 9090 },
      { host: HOST, port: late },
    ],
    0,
    line => {
      told.push(line)
      void listen(undefined, late)
    },
  )
  expect(verdict.state).toBe('breached')
  expect(told[0]).toMatch(/^waiting until DNS knows backstop-wall-check\.invalid:9090 \(E/)
})
