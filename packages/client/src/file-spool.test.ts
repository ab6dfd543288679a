import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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

describe('no other account can read the reports', () => {
  const modeOf = (...path: string[]) => (statSync(join(folder, ...path)).mode & 0o777).toString(8)
  let umask: number
  beforeEach(() => {
    umask = process.umask(0o022)
  })
  afterEach(() => process.umask(umask))

  test('in a new folder', async () => {
    const spool = createFileSpool({ folder: join(folder, 'new') })
    for (let count = 0; count < 8_000; count++) {
      spool.save(report(`k${count}`))
      if (count !== 5) spool.remove(report(`k${count}`).id)
    }
    await spool.close()
    const [file = ''] = readdirSync(join(folder, 'new'))
    expect([modeOf('new'), modeOf('new', file)]).toEqual(['700', '600'])
  })

  test('in a folder with files that exist with wider rights', async () => {
    const inUse = `${hostname()}.${process.ppid}.abc.ndjson`
    mkdirSync(join(folder, 'old'))
    for (const name of [ENDED, inUse]) writeFileSync(join(folder, 'old', name), lines(name))
    chmodSync(join(folder, 'old'), 0o777)
    expect([modeOf('old'), modeOf('old', ENDED)]).toEqual(['777', '644'])
    const spool = createFileSpool({ folder: join(folder, 'old') })
    expect(await spool.load()).toEqual([report(ENDED)])
    await spool.close()
    const files = readdirSync(join(folder, 'old'))
    expect([modeOf('old'), files.map(name => modeOf('old', name))]).toEqual(['700', ['600', '600']])
  })

  test('but a folder of all accounts keeps its rights, and the files in it do not', async () => {
    mkdirSync(join(folder, 'shared'))
    chmodSync(join(folder, 'shared'), 0o1777)
    const errors: unknown[] = []
    const spool = createFileSpool({ folder: join(folder, 'shared'), onError: error => errors.push(error) })
    spool.save(report('a'))
    await spool.close()
    const [file = ''] = readdirSync(join(folder, 'shared'))
    expect([modeOf('shared'), modeOf('shared', file)]).toEqual(['777', '600'])
    expect(String(errors[0])).toContain('Use a folder of its own')
  })
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
