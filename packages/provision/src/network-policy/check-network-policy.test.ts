import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { checkNetworkPolicy } from './check-network-policy.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step()
})

const HOST = '127.0.0.1'
const check = (
  targets: { host: string; port: number }[],
  gracePeriodMs = 0,
  report: (line: string) => void = () => {},
) => checkNetworkPolicy({ targets, connectTimeoutMs: 300, gracePeriodMs, intervalMs: 20, report })

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

/** A port that accepts no connection and never answers: its thread blocks, and waiting connections fill its queue. */
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

test('fails with the remedy when a target accepts the connection', async () => {
  const port = await listen()
  const verdict = await check([{ host: HOST, port }])
  expect(verdict.state).toBe('not_enforced')
  expect(verdict.reason).toContain(`reached ${HOST}:${port} (${HOST}) from a pod that may not`)
  expect(verdict.reason).toContain('Turn on enforcement')
})

test('fails when one target of several accepts the connection', async () => {
  const ports = [await refusingPort(), await listen(), await refusingPort()]
  expect((await check(ports.map(port => ({ host: HOST, port })))).state).toBe('not_enforced')
})

test('passes when the target refuses the connection', async () => {
  const port = await refusingPort()
  expect(await check([{ host: HOST, port }])).toEqual({
    state: 'enforced',
    reason: `the network policies are enforced: could not reach ${HOST}:${port} (ECONNREFUSED)`,
  })
})

test('passes when the target does not answer', async () => {
  const verdict = await check([{ host: HOST, port: await silentPort() }])
  expect(verdict.state).toBe('enforced')
  expect(verdict.reason).toContain('(no answer within 300 ms)')
})

test('passes when the policies take effect within the grace period', async () => {
  const server = createServer(socket => socket.destroy())
  const port = await listen(server)
  const reported: string[] = []
  const verdict = await check([{ host: HOST, port }], 60_000, line => {
    reported.push(line)
    server.close()
  })
  expect(verdict.state).toBe('enforced')
  expect(reported).toEqual([`reached ${HOST}:${port} (${HOST}): giving the policies time to take effect`])
})

test('waits while DNS does not know a name', async () => {
  // Another target becomes reachable later; otherwise the check would wait without end.
  const late = await refusingPort()
  const reported: string[] = []
  const verdict = await check(
    [
      { host: 'backstop-network-policy-check.invalid', port: 9090 },
      { host: HOST, port: late },
    ],
    0,
    line => {
      reported.push(line)
      void listen(undefined, late)
    },
  )
  expect(verdict.state).toBe('not_enforced')
  expect(reported[0]).toMatch(/^waiting until DNS knows backstop-network-policy-check\.invalid:9090 \(E/)
})
