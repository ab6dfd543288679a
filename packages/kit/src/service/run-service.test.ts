import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../test/until.ts'
import { STARTED } from './run-service.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

const URLS = {
  runService: new URL('./run-service.ts', import.meta.url).href,
  logger: new URL('../logger.ts', import.meta.url).href,
  opsServer: new URL('../ops/ops-server.ts', import.meta.url).href,
}

/** A process that runs a service with this `start`, written as source code. */
function runChild(start: string) {
  const code = [
    `import { runService } from ${JSON.stringify(URLS.runService)}`,
    `import { createLogger } from ${JSON.stringify(URLS.logger)}`,
    `const start = ${start}`,
    `await runService('example', start)`,
  ].join('\n')
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  return { child, ended: once(child, 'close'), output: () => output }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s during the start ends the process at once with exit code 0',
  async signal => {
    const { child, ended, output } = runChild(`async () => {
    console.log('starting')
    setInterval(() => {}, 1_000)
    return new Promise(() => {})
  }`)
    await until('the start', () => output().includes('starting'), { seen: output })
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(output()).toContain(`example stopped during its start (${signal})`)
  },
)

test('SIGTERM during the start first does what the start left for it, also if that fails', async () => {
  const { child, ended, output } = runChild(`async (_, onInterrupted) => {
    onInterrupted(async () => { throw new Error('No answer') })
    onInterrupted(async () => console.log('left the list'))
    console.log('starting')
    setInterval(() => {}, 1_000)
    return new Promise(() => {})
  }`)
  await until('the start', () => output().includes('starting'), { seen: output })
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(output()).toContain('left the list')
})

test('SIGTERM after the start drains the service and exits with 0', async () => {
  const { child, ended, output } = runChild(`async () => ({
    logger: createLogger('example', 'info'),
    failed: new Promise(() => setInterval(() => {}, 1_000)),
    stop: async () => console.log('drained'),
  })`)
  expect(await once(child, 'message')).toContain(STARTED)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  for (const line of ['service.stopping', 'drained', 'service.stopped']) expect(output()).toContain(line)
})

test('a port in use ends the process with exit code 1, and its output with one line that says what to do', async () => {
  const { ended, output } = runChild(`async () => {
    const { createServer } = await import('node:http')
    const { listen } = await import(${JSON.stringify(URLS.opsServer)})
    const first = createServer()
    await listen(first, 0, '127.0.0.1')
    const { port } = first.address()
    process.env.OPS_PORT = String(port)
    await listen(createServer(), port, '127.0.0.1')
  }`)
  expect(await ended).toEqual([1, null])
  expect(output()).toMatch(/^example did not start\. Port \d+ is in use: stop the other program or set OPS_PORT\n$/)
})
