import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { PartHandle, RunningStack } from '@backstop/stack'
import { afterEach, expect, test } from 'vitest'
import type { ServiceProcess } from './service-process.ts'
import { superviseService, superviseStack } from './supervise.ts'

const children: ReturnType<typeof spawn>[] = []
let stopping = false
afterEach(() => {
  stopping = true
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function sleeper(): Promise<number> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  children.push(child)
  await once(child, 'spawn')
  return child.pid as number
}

const refuse = (): never => {
  throw new Error('not asked for here')
}
const absent: PartHandle = {
  pid: undefined,
  adopted: false,
  kill: refuse,
  restart: refuse,
  stop: refuse,
  lastLogLines: () => [],
}

/** A fake stack in which only Kafka is a process on this machine. */
async function stackWith(restart: (kafka: PartHandle) => Promise<void>): Promise<RunningStack> {
  const kafka = { ...absent, pid: await sleeper(), lastLogLines: () => ['    out of memory'] }
  return {
    urls: { kafka: '', mongo: '', registry: '', smtp: '', mail: '' },
    kind: 'embedded',
    parts: { kafka: { ...kafka, restart: () => restart(kafka) }, mongo: absent, registry: absent, mail: absent },
    stop: async () => {},
  }
}

function watch(stack: RunningStack): { said: () => string; supervised: () => Promise<void> } {
  stopping = false
  const said: string[] = []
  const supervision = { say: (text: string) => void said.push(text), isStopping: () => stopping, checkEveryMs: 10 }
  const supervised = superviseStack(stack, '/logs', supervision)
  return { said: () => said.join('\n'), supervised }
}

test('reports a part of the stack that ended, with its last log lines, and starts it again', async () => {
  let restarts = 0
  const { said } = watch(await stackWith(async () => void restarts++))
  children[0]?.kill('SIGKILL')
  await expect
    .poll(said)
    .toContain('✗ Kafka has ended\n    out of memory\n    Its log: /logs/kafka.previous.log\n✓ Kafka runs again')
  expect(restarts).toBeGreaterThan(0)
})

test('stops restarting a part that ends six times within two minutes', async () => {
  let restarts = 0
  const { said } = watch(await stackWith(async () => void restarts++))
  children[0]?.kill('SIGKILL')
  await expect.poll(said).toContain('✗ Kafka stays down: it ended 6 times within 2 minutes')
  expect(restarts).toBe(5)
})

test('resolves only after a restart in progress, so that a stop includes the restarted part', async () => {
  const comeUp = Promise.withResolvers<void>()
  const { said, supervised } = watch(await stackWith(() => comeUp.promise))
  children[0]?.kill('SIGKILL')
  await expect.poll(said).toContain('has ended')
  stopping = true
  let waited = false
  const waiting = supervised().then(() => (waited = true))
  await new Promise(resolve => setImmediate(resolve))
  expect(waited).toBe(false)
  comeUp.resolve()
  await waiting
})

test('starts no service while the launcher stops', async () => {
  let starts = 0
  const service = { name: 'ingress', isStopRequested: false, start: () => void starts++ } as ServiceProcess
  const supervised = superviseService(service, { say: () => {}, isStopping: () => true })
  await expect(supervised).rejects.toThrow('ingress was stopped')
  expect(starts).toBe(0)
})

const LISTENS = { code: null, signal: 'SIGKILL', isUnexpected: true, portInUse: undefined } as const
const IN_USE = { code: 1, signal: null, isUnexpected: true, portInUse: 8083 } as const

/** A fake service whose processes end in this order; undefined for a process that keeps running. */
function serviceWith(...ends: (Awaited<ServiceProcess['exited']> | undefined)[]) {
  let starts = 0
  const service: Partial<ServiceProcess> = {
    name: 'notifier',
    isStopRequested: false,
    start: () => void starts++,
    awaitReady: async () => {
      const end = ends[starts - 1]
      return end?.portInUse === undefined ? { kind: 'ready' } : { kind: 'ended', end }
    },
    get exited() {
      return Promise.resolve(ends[starts - 1] ?? new Promise<never>(() => {}))
    },
    lastLogLines: () => [],
  }
  return { service: service as ServiceProcess, starts: () => starts }
}

test('starts a service that was ready before again until another process has left its port, and says it once', async () => {
  stopping = false
  const said: string[] = []
  const { service, starts } = serviceWith(LISTENS, ...Array.from({ length: 20 }, () => IN_USE), undefined)
  const say = (text: string) => void said.push(text)
  await superviseService(service, { say, isStopping: () => stopping, pause: async () => {} })
  await expect.poll(() => said.at(-1)).toBe('✓ notifier runs again')
  expect(starts()).toBe(22)
  expect(said.map(text => text.split('\n')[0])).toEqual([
    '✗ notifier was ended by SIGKILL',
    '✗ notifier is down: port 8083 is in use by another process. It starts when the port is free',
    '✓ notifier runs again',
  ])
})

test('reports the port that another process took before the first start', async () => {
  stopping = false
  const { service, starts } = serviceWith(IN_USE)
  const supervised = superviseService(service, { say: () => {}, isStopping: () => stopping })
  await expect(supervised).rejects.toMatchObject({ name: 'PortInUseFault', port: 8083 })
  expect(starts()).toBe(1)
})
