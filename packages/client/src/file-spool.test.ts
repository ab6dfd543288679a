import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFileSpool } from './file-spool.ts'
import { createReport } from './reporter/report.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spool-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const report = (key: string) =>
  createReport({ connection_id: 'con_1', kind: 'refund', subject: 'pi_1', idempotency_key: key, state: 'executing' })
const lines = (...keys: string[]) => keys.map(key => `${JSON.stringify({ save: report(key) })}\n`).join('')
const ENDED = `${hostname()}.2147483646.abc.ndjson`

test('a starting process takes over the waiting reports of one that has ended', async () => {
  writeFileSync(join(folder, ENDED), `${lines('a', 'b')}${JSON.stringify({ remove: report('a').id })}\n{"sav`)
  const spool = createFileSpool({ folder })
  expect(await spool.load()).toEqual([report('b')])
  await spool.close()
  const files = readdirSync(folder)
  expect(files).toHaveLength(1)
  expect(readFileSync(join(folder, String(files[0])), 'utf8')).toBe(lines('b'))
})

test('leaves the file of a process that runs', async () => {
  writeFileSync(join(folder, `${hostname()}.${process.ppid}.abc.ndjson`), lines('a'))
  const spool = createFileSpool({ folder })
  expect(await spool.load()).toEqual([])
  await spool.close()
})

test('two spools of one process keep their own reports', async () => {
  const first = createFileSpool({ folder })
  first.save(report('a'))
  const second = createFileSpool({ folder })
  expect(await second.load()).toEqual([])
  await Promise.all([first.close(), second.close()])
})

test('removes its file if everything was delivered', async () => {
  const spool = createFileSpool({ folder })
  spool.save(report('a'))
  spool.remove(report('a').id)
  await spool.close()
  expect(readdirSync(folder)).toEqual([])
})

test('rewrites a large file that is mostly about delivered reports', async () => {
  const spool = createFileSpool({ folder })
  for (let count = 0; count < 8_000; count++) {
    spool.save(report(`k${count}`))
    if (count !== 5) spool.remove(report(`k${count}`).id)
  }
  await spool.close()
  spool.save(report('last'))
  await spool.close()
  const [file = ''] = readdirSync(folder)
  expect(readFileSync(join(folder, file), 'utf8')).toBe(lines('k5', 'last'))
})

test('reports a folder that cannot be written, and does not throw', async () => {
  writeFileSync(join(folder, 'file'), '')
  const errors: unknown[] = []
  const spool = createFileSpool({ folder: join(folder, 'file'), onError: error => errors.push(error) })
  spool.save(report('a'))
  expect(await spool.load()).toEqual([])
  await spool.close()
  expect(errors).not.toEqual([])
})
