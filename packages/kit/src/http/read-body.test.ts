import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createManualClock, type ManualClock } from '../../test/manual-clock.ts'
import { ByteBudget } from './byte-budget.ts'
import { type BodyResult, hasShortBody, readBody } from './read-body.ts'

const MAX_BYTES = 1_000
const head = (bytes: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`

let server: Server
let client: Socket
let clock: ManualClock
let budget: ByteBudget
/** What the server does with a request before it reads the body. */
let before: (request: IncomingMessage) => void
let results: BodyResult[]
let onResult: () => void

beforeEach(async () => {
  clock = createManualClock()
  budget = new ByteBudget(MAX_BYTES)
  before = () => {}
  results = []
  onResult = () => {}
  server = createServer(async (request, response) => {
    const reading = readBody(request, { maxBytes: MAX_BYTES, timeoutMs: 5_000, budget }, clock)
    before(request)
    results.push(await reading)
    onResult()
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
})
afterEach(() => {
  client.destroy()
  server.closeAllConnections()
  server.close()
})

/** Resolves with the next result. */
const nextResult = () =>
  new Promise<BodyResult>(resolve => {
    onResult = () => resolve(results.at(-1)!)
  })

describe('a body', () => {
  test('that comes with its headers is taken at once and reserved, and its request ends', async () => {
    const closed = Promise.withResolvers<void>()
    before = request => request.on('close', () => closed.resolve())
    client.write(`${head(4)}body`)
    expect(await nextResult()).toEqual({ kind: 'complete', body: Buffer.from('body') })
    expect(budget.held).toBe(4)
    await closed.promise
  })

  test('that comes after its headers is awaited', async () => {
    client.write(head(8))
    await once(server, 'request')
    client.write('body')
    client.write('body')
    expect(await nextResult()).toEqual({ kind: 'complete', body: Buffer.from('bodybody') })
    expect(budget.held).toBe(8)
  })

  test('of no bytes is complete', async () => {
    client.write(head(0))
    expect(await nextResult()).toEqual({ kind: 'complete', body: Buffer.alloc(0) })
  })

  test('that comes with its headers is refused beyond the limit and beyond the budget', async () => {
    client.write(head(MAX_BYTES + 1) + 'x'.repeat(MAX_BYTES + 1))
    expect(await nextResult()).toEqual({ kind: 'incomplete', reason: 'too_large' })
    budget.reserve(MAX_BYTES - 3)
    client.write(`${head(4)}body`)
    expect(await nextResult()).toEqual({ kind: 'incomplete', reason: 'budget_exhausted' })
    expect(budget.held).toBe(MAX_BYTES - 3)
  })

  test('of a connection that breaks before anyone waits for it is broken off, and not awaited until its time is over', async () => {
    before = request => request.destroy()
    client.write(`${head(4)}bo`)
    expect(await nextResult()).toEqual({ kind: 'incomplete', reason: 'body_broken_off' })
  })
})

test.each([
  { name: 'without a body', headers: ['Host', 'x'], expected: true },
  { name: 'with the longest short body', headers: ['Host', 'x', 'Content-Length', '65536'], expected: true },
  { name: 'with a longer one', headers: ['content-length', '65537'], expected: false },
  { name: 'of unknown length', headers: ['Transfer-Encoding', 'chunked'], expected: false },
  {
    name: 'whose client asks before it sends',
    headers: ['content-length', '10', 'Expect', '100-continue'],
    expected: false,
  },
  { name: 'with a header of the same length', headers: ['x-forwarded-up', '99999999'], expected: true },
])('a request $name can be followed by the next one: $expected', ({ headers, expected }) => {
  expect(hasShortBody({ rawHeaders: headers } as unknown as IncomingMessage)).toBe(expected)
})

test('a body of several buffers that has arrived before it is read is whole', async () => {
  const sent = Buffer.alloc(100_000, 'x')
  const limits = { maxBytes: sent.length, timeoutMs: 5_000, budget: new ByteBudget(sent.length) }
  const read = Promise.withResolvers<BodyResult>()
  const late = createServer(async (request, response) => {
    await expect.poll(() => request.readableLength, { interval: 1 }).toBe(sent.length)
    read.resolve(await readBody(request, limits, clock))
    response.end()
  })
  late.listen(0, '127.0.0.1')
  await once(late, 'listening')
  try {
    const { port } = late.address() as AddressInfo
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: sent })
    expect(await read.promise).toEqual({ kind: 'complete', body: sent })
  } finally {
    late.closeAllConnections()
    late.close()
  }
})
