/** `backstop dry-run` as a process, over a database without events, on a real MongoDB. */
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

let stack: TestStack
beforeAll(async () => {
  stack = await testStack()
})
afterAll(() => stack?.close())

function dryRun(...args: string[]) {
  const { PATH } = process.env
  const env = { PATH, MONGO_URL: stack.mongoUrl.reveal(), MONGO_DB: stack.dbName }
  const child = spawn(process.execPath, [MAIN, 'dry-run', '--from', '1h', ...args], { cwd: tmpdir(), env })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  return new Promise<object>(done => child.once('close', exit => done({ exit, out, err })))
}

test('the totals are one line of JSON with --json', async () => {
  const summary =
    '{"type":"summary","actions":{"compared":0,"same":0,"different":0,"undecided":0,"by_basis":{"events":0,"reading":0,"expired":0}},' +
    '"alerted":{"stored":0,"now":0},"failed":{"count":0,"first":null},"changes":[],' +
    '"events":{"in_window":0,"still_ignored":0,"not_replayed":{"body_gone":0,"hint_held":0,"hint_now":0,"refused":0}}}\n'
  expect(await dryRun('--json')).toEqual({ exit: 0, out: summary, err: '' })
})

test('the totals are a text without --json', async () => {
  const out = expect.stringMatching(/^0 actions compared, from .* UTC to .* UTC: 0 the same, 0 different\n/)
  expect(await dryRun()).toEqual({ exit: 0, out, err: '' })
})

test('an unknown connection ends with exit code 3', async () => {
  const err = 'There is no connection con_none in this database\n'
  expect(await dryRun('--connection', 'con_none')).toEqual({ exit: 3, out: '', err })
})
