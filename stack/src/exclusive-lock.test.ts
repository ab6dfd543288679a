import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withLock } from './exclusive-lock.ts'
import { identify, startTimeOf } from './process-identity.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-lock-'))
  path = join(folder, 'lock')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the lock is there during the work, and nothing is left after it', async () => {
  const answer = await withLock(path, { timeoutMs: 1000 }, async () => {
    expect(existsSync(path)).toBe(true)
    return 'worked'
  })
  expect(answer).toBe('worked')
  expect(readdirSync(folder)).toEqual([])
})

test('the lock is given back when the work fails', async () => {
  const work = withLock(path, { timeoutMs: 1000 }, () => Promise.reject(new Error('broken')))
  await expect(work).rejects.toThrow('broken')
  expect(existsSync(path)).toBe(false)
})

test.each([
  { name: 'ended', content: JSON.stringify({ pid: 2 ** 22 + 1, startTime: 'x' }) },
  {
    name: 'ended, and its number is in use again',
    content: JSON.stringify({ pid: process.pid, startTime: 'earlier' }),
  },
  { name: 'never wrote who it is', content: '{"pi' },
])('a lock whose holder has $name is taken over', async ({ content }) => {
  writeFileSync(path, content)
  expect(await withLock(path, { timeoutMs: 2000 }, async () => 'worked')).toBe('worked')
  expect(readdirSync(folder)).toEqual([])
})

test('a lock whose holder lives is waited for, and then the holder is named', async () => {
  writeFileSync(path, JSON.stringify(identify(process.pid)))
  const holders: number[] = []
  const work = withLock(path, { timeoutMs: 300, onWait: holder => holders.push(holder.pid) }, async () => 'worked')
  await expect(work).rejects.toThrow(`Process ${process.pid} has held`)
  expect(holders).toEqual([process.pid])
  expect(existsSync(path)).toBe(true)
})

test('of many that want a stale lock at once, one works at a time', async () => {
  writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: `not ${startTimeOf(process.pid)}` }))
  let inside = 0
  let mostInside = 0
  const work = async () => {
    inside += 1
    mostInside = Math.max(mostInside, inside)
    await new Promise(setImmediate)
    inside -= 1
  }
  await Promise.all(Array.from({ length: 8 }, () => withLock(path, { timeoutMs: 8000 }, work)))
  expect(mostInside).toBe(1)
})
