import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { ApiProblem, NoAnswer } from './api-problem.ts'
import { type ClientOptions, createClient } from './create-client.ts'

interface SeenRequest {
  readonly line: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Answer = (response: ServerResponse) => void

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A server that gives each request the next answer, and the last answer to all later requests. */
async function setUp(answers: readonly [Answer, ...Answer[]], options: Partial<ClientOptions> = {}) {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => (body += chunk))
    request.on('end', () => {
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
      answers[Math.min(seen.length, answers.length) - 1]?.(response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { seen, client: createClient({ baseUrl, key: 'bsk_test', ...options }) }
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
const breakConnection: Answer = response => response.destroy()
const silence: Answer = () => {}
const problem = (status: number, code: string, headers = {}) =>
  answer(status, { type: 'urn:backstop:error:x', title: 'X', status, code, detail: 'D', request_id: 'req_1' }, headers)

describe('a call', () => {
  test('has the key, the query, and encoded path parameters', async () => {
    const { client, seen } = await setUp([answer(200, { data: [], next_cursor: null })])
    await client.connections.list('prj/1', { limit: 5 })
    expect(seen).toMatchObject([
      { line: 'GET /v1/projects/prj%2F1/connections?limit=5', headers: { authorization: 'Bearer bsk_test' } },
    ])
  })

  test('has the version that it is for as If-Match', async () => {
    const { client, seen } = await setUp([answer(200, {})])
    await client.projects.change('prj_1', { name: 'Shop' }, { ifVersion: 3 })
    expect(seen[0]).toMatchObject({ line: 'PATCH /v1/projects/prj_1', body: '{"name":"Shop"}' })
    expect(seen[0]?.headers['if-match']).toBe('"3"')
  })

  test('returns nothing for an answer without a body', async () => {
    const { client } = await setUp([response => response.writeHead(204).end()])
    expect(await client.silences.end('sil_1')).toBeUndefined()
  })

  test('that is made raw returns the answer unread', async () => {
    const { client, seen } = await setUp([response => response.end('a,b\n')])
    const response = await client.request('GET', '/v1/incidents', {
      query: { state: ['open', 'resolved'] },
      headers: { accept: 'text/csv' },
    })
    expect(await response.text()).toBe('a,b\n')
    expect(seen[0]).toMatchObject({
      line: 'GET /v1/incidents?state=open&state=resolved',
      headers: { accept: 'text/csv' },
    })
  })
})

describe('a list', () => {
  const pages = [
    answer(200, { data: [1, 2], next_cursor: 'n' }),
    answer(200, { data: [3], next_cursor: null }),
  ] as const

  test('is awaited for one page', async () => {
    const { client, seen } = await setUp(pages)
    expect(await client.incidents.list({ state: 'open' })).toEqual({ data: [1, 2], next_cursor: 'n' })
    expect(seen).toHaveLength(1)
  })

  test('is iterated over all pages with the same query', async () => {
    const { client, seen } = await setUp(pages)
    const items: unknown[] = []
    for await (const item of client.incidents.list({ state: 'open' })) items.push(item)
    expect(items).toEqual([1, 2, 3])
    expect(seen.map(({ line }) => line)).toEqual([
      'GET /v1/incidents?state=open',
      'GET /v1/incidents?state=open&cursor=n',
    ])
  })
})

describe('a retry', () => {
  const operation = { connection_id: 'con_1', kind: 'refund', subject: 'pi_1' } as const

  test('of a POST has the Idempotency-Key of the first attempt', async () => {
    const { client, seen } = await setUp([breakConnection, problem(503, 'unavailable'), answer(201, { ok: true })])
    expect(await client.operations.create(operation)).toEqual({ ok: true })
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(keys[0]).toMatch(/^backstop-[0-9a-f]{32}$/)
    expect(new Set(keys).size).toBe(1)
  })

  test('has the key that the caller gave', async () => {
    const { client, seen } = await setUp([answer(201, {})])
    await client.operations.create(operation, { idempotencyKey: 'mine' })
    expect(seen[0]?.headers['idempotency-key']).toBe('mine')
  })

  test('waits for as long as Retry-After asks', async () => {
    const { client } = await setUp([problem(429, 'rate_limited', { 'retry-after': '1' }), answer(200, {})])
    const startedAt = performance.now()
    await client.incidents.get('inc_1')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  })

  test('is not made if Retry-After exceeds the time limit', async () => {
    const { client, seen } = await setUp([problem(429, 'rate_limited', { 'retry-after': '60' })], { timeoutMs: 5_000 })
    await expect(client.incidents.get('inc_1')).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 })
    expect(seen).toHaveLength(1)
  })

  test('is not made after a refusal', async () => {
    const { client, seen } = await setUp([problem(400, 'invalid_request')])
    await expect(client.operations.create(operation)).rejects.toThrow(ApiProblem)
    expect(seen).toHaveLength(1)
  })

  test('is not made of a PATCH whose answer was lost, because it may have been executed', async () => {
    const { client, seen } = await setUp([breakConnection])
    await expect(client.projects.change('prj_1', {}, { ifVersion: 1 })).rejects.toThrow(NoAnswer)
    expect(seen).toHaveLength(1)
  })

  test('is made at most as often as the client is set to', async () => {
    const { client, seen } = await setUp([problem(503, 'unavailable')], { retries: 1 })
    await expect(client.incidents.get('inc_1')).rejects.toMatchObject({ code: 'unavailable' })
    expect(seen).toHaveLength(2)
  })
})

describe('a failed call', () => {
  test('throws the problem with its code, its fields and its request', async () => {
    const errors = [{ path: 'query.limit', message: 'Too big' }]
    const { client } = await setUp([
      answer(400, {
        status: 400,
        code: 'invalid_request',
        detail: 'query.limit: Too big',
        request_id: 'req_7',
        errors,
      }),
    ])
    const thrown = await client.incidents.list({ limit: 999 }).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ApiProblem)
    expect(thrown).toMatchObject({
      status: 400,
      code: 'invalid_request',
      detail: 'query.limit: Too big',
      message: 'query.limit: Too big',
      errors,
      request_id: 'req_7',
    })
  })

  test('throws the code unknown if a proxy answered', async () => {
    const { client } = await setUp([response => response.writeHead(404).end('<html>')])
    await expect(client.incidents.get('inc_1')).rejects.toMatchObject({ code: 'unknown', status: 404, errors: [] })
  })

  test('throws NoAnswer if the time limit passes', async () => {
    const { client } = await setUp([silence], { timeoutMs: 50 })
    await expect(client.incidents.get('inc_1')).rejects.toThrow(NoAnswer)
  })

  test('throws the reason of the signal that aborted it', async () => {
    const { client } = await setUp([silence])
    const reason = new Error('the user left the page')
    const abort = new AbortController()
    const call = client.incidents.get('inc_1', { signal: abort.signal })
    abort.abort(reason)
    await expect(call).rejects.toBe(reason)
  })

  test('throws the reason of the signal also while it waits for a retry', async () => {
    const { client, seen } = await setUp([problem(429, 'rate_limited', { 'retry-after': '20' })])
    const reason = new Error('the user left the page')
    const abort = new AbortController()
    const call = client.incidents.get('inc_1', { signal: abort.signal })
    const ended = expect(call).rejects.toBe(reason)
    while (seen.length === 0) await new Promise(resolve => setImmediate(resolve))
    setTimeout(() => abort.abort(reason), 20)
    await ended
  })
})
