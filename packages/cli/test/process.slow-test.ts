/** Tests the output and the exit code of the command as a process. */

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { nodeEnvironment } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiStandIn, KEY, startApiStandIn } from './api-stand-in.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

let api: ApiStandIn
beforeAll(async () => {
  api = await startApiStandIn()
})
afterAll(() => api?.stop())

function backstop(args: readonly string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: tmpdir(),
    env: { ...nodeEnvironment(), ...environment },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  return new Promise<object>(done => child.once('close', exit => done({ exit, out, err })))
}

test('the result goes to standard output, with exit code 0', async () => {
  const ended = await backstop(['explain', 'act_known'], { BACKSTOP_URL: api.url, BACKSTOP_API_KEY: KEY })
  expect(ended).toEqual({ exit: 0, out: expect.stringContaining('Nothing explains it'), err: '' })
})

test('an error goes to standard error, with its exit code', async () => {
  const ended = await backstop(['explain', 'act_none'], { BACKSTOP_URL: api.url, BACKSTOP_API_KEY: KEY })
  expect(ended).toEqual({ exit: 3, out: '', err: expect.stringContaining('There is no such action') })
})

test('keys recover ends by itself when MongoDB is unavailable', async () => {
  const ended = await backstop(['keys', 'recover'], { MONGO_URL: 'mongodb://u:secret@127.0.0.1:9' })
  expect(ended).toEqual({ exit: 5, out: '', err: expect.stringContaining('MongoDB is unavailable') })
  expect(JSON.stringify(ended)).not.toContain('secret')
})
