import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { StackRecordFile } from '../src/part-records.ts'
import { pollUntil } from '../src/poll.ts'
import { identify, isAlive } from '../src/process-identity.ts'
import { createCleanup } from './stack-under-test.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.all(), 30_000)

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

function run(...args: string[]) {
  // All URLs except the mail server's are given, so that each test takes only a second.
  const given = { KAFKA_BROKERS: 'k:1', MONGO_URL: 'mongodb://m', SCHEMA_REGISTRY_URL: 'http://r', SMTP_URL: '' }
  const env = { ...process.env, ...given, BACKSTOP_STACK: 'embedded' }
  return cleanup.child(spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

async function finish(child: ReturnType<typeof run>) {
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
  return { stdout, stderr, exitCode: child.exitCode }
}

test('up prints what to export and runs until Ctrl-C, which stops what it started', async () => {
  const dataDir = cleanup.dataDir()
  const child = run('up', '--data', dataDir)
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  expect(String(line)).toMatch(
    /^export KAFKA_BROKERS='k:1'\nexport MONGO_URL='mongodb:\/\/m'\n.*\nexport SMTP_URL='smtp:\/\/127.0.0.1:\d+'\n/,
  )
  const part = identify(new StackRecordFile(dataDir).read().parts.mail!.pid)!
  child.kill('SIGINT')
  await once(child, 'close')
  expect(child.exitCode).toBe(0)
  expect(isAlive(part)).toBe(false)
})

test('Ctrl-C during the start stops what is half started', async () => {
  const dataDir = cleanup.dataDir()
  const records = new StackRecordFile(dataDir)
  const child = run('up', '--data', dataDir)
  const part = await pollUntil(() => records.read().parts.mail, { timeoutMs: 20_000, everyMs: 1 })
  child.kill('SIGINT')
  await once(child, 'close')
  expect(isAlive(part!)).toBe(false)
})

test('up --detach leaves the parts up, status shows them, down stops them', async () => {
  const dataDir = cleanup.dataDir()
  const up = await finish(run('up', '--detach', '--json', '--data', dataDir))
  expect(up.exitCode).toBe(0)
  expect(JSON.parse(up.stdout)).toMatchObject({
    kind: 'embedded',
    urls: { smtp: expect.stringMatching(/^smtp:/), kafka: 'k:1' },
  })
  const rows = JSON.parse((await finish(run('status', '--json', '--data', dataDir))).stdout) as {
    name: string
    up: boolean
    pid: number
  }[]
  const mail = rows.find(({ name }) => name === 'mail')!
  expect(mail.up).toBe(true)
  const part = identify(mail.pid)!
  expect((await finish(run('down', '--data', dataDir))).stderr).toContain('Stopped mail')
  expect(isAlive(part)).toBe(false)
})

test('a command that is not known is answered with what there is', async () => {
  const { stderr, exitCode } = await finish(run('upp'))
  expect(stderr).toContain('Usage:')
  expect(exitCode).toBe(2)
})
