import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identify, isAlive, type ProcessIdentity } from '@backstop/stack'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRunRecords, type RunFile } from './run-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-run-'))
})
const children: ReturnType<typeof spawn>[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

async function sleeper(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  children.push(child)
  await once(child, 'spawn')
  return identify(child.pid as number) as ProcessIdentity
}

const run: RunFile = {
  ingress: 'http://127.0.0.1:1',
  admin: 'http://127.0.0.1:2',
  console: 'http://127.0.0.1:2/',
  mail: 'http://127.0.0.1:3',
  smtp: 'smtp://127.0.0.1:4',
  key: 'bsk_test',
  mongo: 'mongodb://127.0.0.1:5',
  database: 'backstop',
  kafka: '127.0.0.1:9092',
  registry: 'http://127.0.0.1:8081',
  topic_prefix: '',
  recheck_delay_ms: 60_000,
  pids: { ingress: 1 },
  launcher: process.pid,
}

test('the first start of a folder claims it and writes run.json for its owner only', async () => {
  const records = createRunRecords(folder)
  expect(await records.claim()).toEqual({ kind: 'claimed', endedLeftovers: [] })
  records.writeRun(run)
  expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toEqual(run)
  expect(statSync(join(folder, 'run.json')).mode & 0o777).toBe(0o600)
})

test('only this user can enter the data folder, also one of an earlier version', async () => {
  const made = join(folder, 'clone', '.backstop')
  await createRunRecords(made).claim()
  expect(statSync(made).mode & 0o777).toBe(0o700)
  chmodSync(made, 0o755)
  await createRunRecords(made).claim()
  expect(statSync(made).mode & 0o777).toBe(0o700)
})

test('a second start gets the process and the addresses of the running product', async () => {
  const records = createRunRecords(folder)
  await records.claim()
  expect(await createRunRecords(folder).claim()).toEqual({ kind: 'taken', pid: process.pid, run: undefined })
  records.writeRun(run)
  expect(await createRunRecords(folder).claim()).toMatchObject({ kind: 'taken', run: { key: 'bsk_test' } })
})

test('a start after a kill -9 ends the services of the killed launcher, and removes its run.json', async () => {
  const service = await sleeper()
  const killed = { pid: process.pid, startTime: 'of a process that had this number before' }
  writeFileSync(join(folder, 'launcher.json'), JSON.stringify({ launcher: killed, services: { ingress: service } }))
  const records = createRunRecords(folder)
  records.writeRun(run)
  expect(await records.claim()).toEqual({ kind: 'claimed', endedLeftovers: ['ingress'] })
  expect(isAlive(service)).toBe(false)
  expect(records.readRun()).toBeUndefined()
})

test('does not end a foreign process with the pid of a former service', async () => {
  const stranger = await sleeper()
  const former = { pid: stranger.pid, startTime: 'long ago' }
  writeFileSync(join(folder, 'launcher.json'), JSON.stringify({ launcher: former, services: { ingress: former } }))
  expect(await createRunRecords(folder).claim()).toEqual({ kind: 'claimed', endedLeftovers: [] })
  expect(isAlive(stranger)).toBe(true)
})

test('writes the new pid of a restarted service to run.json', async () => {
  const records = createRunRecords(folder)
  await records.claim()
  records.writeRun(run)
  const service = await sleeper()
  records.recordService('ingress', service)
  expect(records.readRun()?.pids).toEqual({ ingress: service.pid })
})
