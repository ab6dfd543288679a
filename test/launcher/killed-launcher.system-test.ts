/** Kills the launcher of `npm start` with SIGKILL and checks that its child processes end. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from '@backstop/kit/test'
import { identify, isAlive, type ProcessIdentity } from '@backstop/stack'
import { afterEach, expect, test } from 'vitest'
import { dataFolder } from '../setup/product.ts'
import { startLauncher } from './launcher-under-test.ts'

const WITHIN_MS = 2_000
/** Settings with which the launcher starts its own stack. */
const OWN_STACK = {
  BACKSTOP_STACK: 'embedded',
  KAFKA_BROKERS: '',
  MONGO_URL: '',
  SCHEMA_REGISTRY_URL: '',
  SMTP_URL: '',
  MAIL_URL: '',
}

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

interface Child extends ProcessIdentity {
  command: string
}

/** The child processes of a process, and their children. */
function childrenOf(pid: number | undefined): Child[] {
  return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
    .split('\n')
    .map(line => /^ *(\d+) +(\d+) +(.*)$/.exec(line) ?? [])
    .filter(([, , parent]) => Number(parent) === pid)
    .flatMap(([, child, , command = '']) => {
      const identity = identify(Number(child))
      return identity === undefined ? [] : [{ ...identity, command }]
    })
}

/** Begins a request and never ends it, because a service that drains waits for open requests. */
async function beginRequest(url: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  cleanUps.push(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`)
  socket.write('content-length: 100\r\nauthorization: Bearer bsk_none\r\nprocessor-signature: t=1,v1=00\r\n\r\n{')
}

test('every service and every part of the stack ends within 2 s after a kill -9 of the launcher', async () => {
  const launcher = startLauncher(dataFolder('killed'), OWN_STACK, '--no-demo')
  cleanUps.push(() => launcher.stop())
  await launcher.prints(/Backstop runs\./, 240_000)
  const { admin, ingress } = launcher.run()
  await beginRequest(`${admin}/v1/projects`)
  await beginRequest(`${ingress}/v1/webhooks/processor/con_none`)
  const children = childrenOf(launcher.child.pid)
  // Four services, four parts of the stack, and the reaper.
  expect(children).toHaveLength(9)

  launcher.child.kill('SIGKILL')
  const killedAtMs = performance.now()
  const endedAfterMs = new Map<Child, number>()
  await until(
    'the end of every child',
    () => {
      for (const child of children) {
        if (!endedAfterMs.has(child) && !isAlive(child))
          endedAfterMs.set(child, Math.round(performance.now() - killedAtMs))
      }
      return endedAfterMs.size === children.length
    },
    { timeoutMs: 60_000, everyMs: 10 },
  )
  const late = [...endedAfterMs].filter(([, ms]) => ms > WITHIN_MS)
  expect(late.map(([{ command }, ms]) => `${ms} ms: ${command}`)).toEqual([])
})
