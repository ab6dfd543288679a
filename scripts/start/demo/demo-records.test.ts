import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createDemoRecords, type DemoRecord } from './demo-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-demo-'))
const path = join(folder, 'demo.json')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const RECORD: DemoRecord = {
  project_id: 'prj_1',
  connection_id: 'con_1',
  signing_secret: 'whsec_1',
  channel_id: 'chn_1',
  channel_secret: 'whsec_2',
  receiver_port: 1,
  processor_port: 2,
  processor_key: 'sk_test_1',
}

test('returns the stored record while the secret keys are the same', () => {
  createDemoRecords(path, 'keys-1').write(RECORD)
  expect(createDemoRecords(path, 'keys-1').read()).toMatchObject(RECORD)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('returns no record after the secret keys were replaced, because Backstop cannot decrypt its secrets', () => {
  createDemoRecords(path, 'keys-1').write(RECORD)
  expect(createDemoRecords(path, 'keys-2').read()).toBeUndefined()
})

test.each(['', 'null', JSON.stringify(RECORD)])('returns no record for the file %j', content => {
  writeFileSync(path, content)
  expect(createDemoRecords(path, 'keys-1').read()).toBeUndefined()
})
