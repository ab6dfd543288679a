/** A program that is killed while the provider answers its call: the next start reports the end of the operation. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import Stripe from 'stripe'
import { afterEach, expect, test } from 'vitest'
import { createFileSpool } from '../src/file-spool.ts'
import type { NewOperation } from '../src/generated/api.ts'
import { watch } from '../src/reporter/watch.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** Records reports as Backstop does. Every other request is one to a provider, and never answered. */
async function startServer() {
  const reports: NewOperation[] = []
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    if (request.url !== '/v1/operations/batch') return calls.push(String(request.url))
    const { items } = JSON.parse(Buffer.concat(body).toString())
    reports.push(...items)
    response.end(JSON.stringify({ results: items.map(() => ({ status: 201, problem: null })) }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { reports, calls, port: (server.address() as AddressInfo).port }
}

test('reports the end of an operation whose program was killed during the call', async () => {
  const { reports, calls, port } = await startServer()
  const folder = mkdtempSync(join(tmpdir(), 'spool-'))
  stops.push(() => rmSync(folder, { recursive: true }))
  const program = spawn(process.execPath, ['packages/client/test/crash-child.ts', String(port), folder], {
    stdio: 'inherit',
  })
  stops.push(() => program.kill('SIGKILL'))
  const spooled = () =>
    readdirSync(folder)
      .map(name => readFileSync(join(folder, name), 'utf8'))
      .join('')
  await until('the call', () => calls.length === 1 && reports.length === 1 && spooled().includes('executing'), {
    timeoutMs: 30_000,
  })
  expect(reports[0]).toMatchObject({ subject: 'pi_1', state: 'executing' })
  program.kill('SIGKILL')
  await once(program, 'exit')

  const startedAgainAt = Date.now()
  const spool = createFileSpool({ folder })
  const reporter = watch(new Stripe('sk_test_1'), {
    key: 'k',
    connectionId: 'con_1',
    baseUrl: `http://127.0.0.1:${port}`,
    spool,
  })
  expect(await reporter.flush()).toBe(true)
  await reporter.close()
  const { executing_at, idempotency_key } = reports[0] ?? {}
  expect(reports).toHaveLength(2)
  expect(reports[1]).toMatchObject({
    subject: 'pi_1',
    amount: 700,
    idempotency_key,
    executing_at,
    state: 'failed',
    reason: 'The program ended before the answer of the provider was reported',
  })
  expect(Date.parse(String(reports[1]?.ended_at))).toBeGreaterThanOrEqual(startedAgainAt)
  expect(readdirSync(folder)).toEqual([])
})
