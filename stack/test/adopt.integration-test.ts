import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { StackRecord } from '../src/part-records.ts'
import { choosePorts } from '../src/ports.ts'
import { identify, isAlive, signalProcess } from '../src/process-identity.ts'
import { createCleanup, endsWithin } from './stack-under-test.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.all(), 30_000)

const readRecord = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'parts.json'), 'utf8')) as StackRecord

test('parts outlive a launcher that is killed, and the next start adopts them and stops them at its end', async () => {
  const dataDir = cleanup.dataDir()
  const held = await cleanup.hold(dataDir, ['mongo', 'mail'])
  signalProcess(held.launcher, 'SIGKILL')
  expect(await endsWithin(held.launcher, 5000)).toBe(true)
  const before = readRecord(dataDir)

  const stack = await cleanup.start(dataDir, { only: ['mongo', 'mail'] })
  expect(stack.parts.mongo).toMatchObject({ adopted: true, pid: held.parts.mongo?.pid })
  expect(stack.parts.mail).toMatchObject({ adopted: true, pid: held.parts.mail?.pid })
  expect(readRecord(dataDir).ports).toEqual(before.ports)

  await stack.stop()
  expect(isAlive(held.parts.mongo!)).toBe(false)
  expect(isAlive(held.parts.mail!)).toBe(false)
})

test('a start beside a living launcher uses its parts and leaves them up when it stops', async () => {
  const dataDir = cleanup.dataDir()
  const held = await cleanup.hold(dataDir, ['mail'])
  const guest = await cleanup.start(dataDir, { only: ['mail'] })
  expect(guest.parts.mail.adopted).toBe(true)
  await guest.stop()
  expect(isAlive(held.parts.mail!)).toBe(true)
})

test('parts that were left running on purpose are adopted and stay up', async () => {
  const dataDir = cleanup.dataDir()
  const first = await cleanup.start(dataDir, { only: ['mail'], keepRunning: true })
  await first.stop()
  const second = await cleanup.start(dataDir, { only: ['mail'] })
  expect(second.parts.mail).toMatchObject({ adopted: true, pid: first.parts.mail.pid })
  await second.stop()
  expect(isAlive(identify(first.parts.mail.pid!)!)).toBe(true)
})

test('a record whose pid belongs to another program by now harms that program in no way', async () => {
  const dataDir = cleanup.dataDir()
  const stranger = cleanup.child(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }))
  const identity = identify(stranger.pid!)!
  const stale = {
    pid: stranger.pid!,
    startTime: 'of a part that ended long ago',
    program: '/x',
    fingerprint: '',
    owner: null,
  }
  writeFileSync(join(dataDir, 'parts.json'), JSON.stringify({ ports: {}, parts: { mail: stale } }))

  const stack = await cleanup.start(dataDir, { only: ['mail'] })
  expect(stack.parts.mail.adopted).toBe(false)
  expect(stack.parts.mail.pid).not.toBe(stranger.pid)
  await stack.stop()
  expect(isAlive(identity)).toBe(true)
})

test('a part that no record names, because its launcher was killed in that moment, is found and ended', async () => {
  const dataDir = cleanup.dataDir()
  const held = await cleanup.hold(dataDir, ['mail', 'mongo'])
  signalProcess(held.launcher, 'SIGKILL')
  rmSync(join(dataDir, 'parts.json'))

  const stack = await cleanup.start(dataDir, { only: ['mail', 'mongo'] })
  expect(stack.parts.mongo.adopted).toBe(false)
  expect(isAlive(held.parts.mail!)).toBe(false)
  expect(isAlive(held.parts.mongo!)).toBe(false)
  await stack.stop()
})

test('a part that hangs, or that runs with other settings, is not adopted but started anew', async () => {
  const dataDir = cleanup.dataDir()
  const first = await cleanup.start(dataDir, { only: ['mail'], keepRunning: true })
  const hanging = identify(first.parts.mail.pid!)!
  first.parts.mail.kill('SIGSTOP')
  const second = await cleanup.start(dataDir, { only: ['mail'], keepRunning: true })
  expect(second.parts.mail.adopted).toBe(false)
  expect(isAlive(hanging)).toBe(false)

  const { mail } = await choosePorts({ mail: {} })
  const elsewhere = await cleanup.start(dataDir, { only: ['mail'], ports: { mail } })
  expect(elsewhere.parts.mail.adopted).toBe(false)
  expect(elsewhere.urls.mail).toBe(`http://127.0.0.1:${mail}`)
  await elsewhere.stop()
})

test('names a way out that deletes nothing when the stored data of a part is damaged', async () => {
  const dataDir = cleanup.dataDir()
  mkdirSync(join(dataDir, 'mongo', 'db'), { recursive: true })
  writeFileSync(join(dataDir, 'mongo', 'db', 'WiredTiger.turtle'), 'damaged')
  const failed = cleanup.start(dataDir, { only: ['mongo'] })
  await expect(failed).rejects.toMatchObject({
    message: expect.stringContaining('MongoDB did not start: it ended by itself'),
    remedy: expect.stringContaining(`mv '${dataDir}' '${dataDir}.aside'`),
  })
  await expect(failed).rejects.not.toMatchObject({ remedy: expect.stringContaining('rm ') })
})

test('the reaper ends the parts within 2 s after a kill -9 of their owner', async () => {
  const dataDir = cleanup.dataDir()
  const held = await cleanup.hold(dataDir, ['mongo', 'mail'], '--reaped')
  signalProcess(held.launcher, 'SIGKILL')
  expect(await endsWithin(held.parts.mongo!, 2_000)).toBe(true)
  expect(await endsWithin(held.parts.mail!, 2_000)).toBe(true)
})
