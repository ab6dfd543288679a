/**
 * Each kind of receiver failure on real sockets: the delivery's state, the duration of the attempt, and its memory use.
 */
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { webhookChannel } from '@backstop/channels/test'
import {
  type Answer,
  createSelfSignedCertificate,
  type Receiver,
  startReceiver,
  trustCertificate,
  until,
} from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ATTEMPT_MS, attemptDelivery, createLoopbackEgress, startRawServer } from './real-receivers.ts'

const egress = createLoopbackEgress()
/** The receiver that a redirect points to. Loopback is allowed here, so a followed redirect would reach it. */
let behindRedirect: Receiver

beforeAll(async () => {
  behindRedirect = await startReceiver()
})
afterAll(async () => {
  await egress.stop()
  await behindRedirect.stop()
})

/** A server that fails in one way. */
interface Server {
  readonly url: string
  /** Number of open connections. */
  open(): number
  stop(): Promise<void>
}

const speaks = (answer: Answer) => async (): Promise<Server> => {
  const receiver = await startReceiver(answer)
  return { url: receiver.url, open: () => receiver.connections.open, stop: receiver.stop }
}
const answers = (status: number, headers: Record<string, string> = {}, body: string | Buffer = '') =>
  speaks((_request, response) => void response.writeHead(status, headers).end(body))
const onRequest = (behave: (socket: Socket) => void) => () =>
  startRawServer(socket => void socket.once('data', () => behave(socket)))

async function closedPort(): Promise<Server> {
  const server = await startRawServer(() => {})
  await server.stop()
  return { ...server, stop: async () => {} }
}

/** A TLS server with a trusted certificate, so that only its validity period can be wrong. */
const overTls = (validity?: { notBefore: Date; notAfter: Date }) => async (): Promise<Server> => {
  const certificate = createSelfSignedCertificate('localhost', validity)
  const receiver = await startReceiver(undefined, certificate)
  const forget = trustCertificate(certificate)
  const stop = async () => {
    forget()
    await receiver.stop()
  }
  return { url: `https://localhost:${receiver.port}/`, open: () => receiver.connections.open, stop }
}

/** Writes until the client closes the connection. */
function writeEndlessly(socket: {
  destroyed: boolean
  write(chunk: Buffer): boolean
  once(event: 'drain', then: () => void): void
}) {
  const chunk = Buffer.alloc(65_536)
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once('drain', () => writeEndlessly(socket))
}

/** Writes the first byte at once, then one byte per half second. */
function writeSlowly(write: (byte: string) => void, text: string): NodeJS.Timeout {
  let at = 0
  const next = () => write(text[at++ % text.length] ?? '')
  next()
  return setInterval(next, 500)
}

const TEN_GB = String(10 * 1024 ** 3)
const METADATA = 'http://169.254.169.254/latest/meta-data/iam/security-credentials/'
const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024))

/** When the attempt must end: `at_once` is long before the deadline, `deadline` is at the deadline. */
type Ends = 'at_once' | 'deadline'
type Ended =
  | { state: 'delivered'; reason?: undefined; topic?: undefined }
  | { state: 'retrying'; reason: RegExp; topic: string }
  | { state: 'dead'; reason: RegExp; topic?: undefined }

interface Row {
  name: string
  server: () => Promise<Server>
  ended: Ended
  status: number | null
  ends?: Ends
}

const delivered: Ended = { state: 'delivered' }
const retried = (reason: RegExp, topic = 'deliveries.retry.5s'): Ended => ({ state: 'retrying', reason, topic })
/** Two minutes after the notifier's clock, which starts at ten o'clock and hardly moves. */
const inTwoMinutes = 'Sat, 21 Nov 2026 10:02:00 GMT'

const rows: Row[] = [
  // Successful answers, for comparison.
  { name: 'answers 200', server: answers(200), ended: delivered, status: 200 },
  { name: 'answers 200 over TLS', server: overTls(), ended: delivered, status: 200 },
  // No answer.
  { name: 'refuses', server: closedPort, ended: retried(/refused the connection/), status: null },
  {
    name: 'resets the connection',
    server: onRequest(socket => socket.resetAndDestroy()),
    ended: retried(/closed the connection before it answered/),
    status: null,
  },
  {
    name: 'hangs up',
    server: onRequest(socket => socket.end()),
    ended: retried(/closed the connection before it answered/),
    status: null,
  },
  {
    name: 'hangs with the request in hand',
    server: speaks(() => {}),
    ended: retried(/did not answer in time/),
    status: null,
    ends: 'deadline',
  },
  {
    name: 'accepts and never reads',
    server: () => startRawServer(socket => socket.pause()),
    ended: retried(/did not answer in time/),
    status: null,
    ends: 'deadline',
  },
  {
    name: 'drips its headers',
    server: onRequest(socket => {
      const timer = writeSlowly(byte => socket.write(byte), 'HTTP/1.1 200 OK\r\n')
      socket.once('close', () => clearInterval(timer))
    }),
    ended: retried(/did not answer in time/),
    status: null,
    ends: 'deadline',
  },
  {
    name: 'says 102 Processing without end',
    server: onRequest(socket => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5)
      socket.once('close', () => clearInterval(timer))
    }),
    ended: retried(/more than 10 interim responses/),
    status: null,
  },
  {
    name: 'has a certificate that has expired',
    server: overTls({ notBefore: new Date('2020-01-01'), notAfter: new Date('2020-02-01') }),
    ended: retried(/TLS certificate .* has expired/),
    status: null,
  },
  {
    name: 'speaks another protocol',
    server: onRequest(socket => socket.end('SSH-2.0-OpenSSH_9.2p1\r\n')),
    ended: retried(/not HTTP/),
    status: null,
  },
  {
    name: 'sends headers without end',
    server: onRequest(socket => {
      socket.write('HTTP/1.1 200 OK\r\nx: ')
      writeEndlessly(socket)
    }),
    ended: retried(/not HTTP/),
    status: null,
  },
  // Oversized or endless answers.
  {
    name: 'drips its body after a 200',
    server: speaks((_request, response) => {
      const timer = writeSlowly(byte => response.write(byte), '.')
      response.once('close', () => clearInterval(timer))
    }),
    ended: delivered,
    status: 200,
    ends: 'deadline',
  },
  {
    name: 'drips its body after a 500',
    server: speaks((_request, response) => {
      response.writeHead(500)
      const timer = writeSlowly(byte => response.write(byte), '.')
      response.once('close', () => clearInterval(timer))
    }),
    ended: retried(/answered 500/),
    status: 500,
    ends: 'deadline',
  },
  {
    name: 'sends 10 GB after a 200',
    server: speaks((_request, response) => writeEndlessly(response.writeHead(200, { 'content-length': TEN_GB }))),
    ended: delivered,
    status: 200,
  },
  {
    name: 'sends 10 GB after a 500',
    server: speaks((_request, response) => writeEndlessly(response.writeHead(500, { 'content-length': TEN_GB }))),
    ended: retried(/answered 500/),
    status: 500,
  },
  {
    name: 'sends a body without length and end',
    server: speaks((_request, response) => writeEndlessly(response.writeHead(200))),
    ended: delivered,
    status: 200,
  },
  {
    name: 'sends a gzip bomb after a 200',
    server: answers(200, { 'content-encoding': 'gzip' }, bomb),
    ended: delivered,
    status: 200,
  },
  {
    name: 'sends a gzip bomb after a 500',
    server: answers(500, { 'content-encoding': 'gzip, gzip, gzip, gzip' }, bomb),
    ended: retried(/answered 500/),
    status: 500,
  },
  {
    name: 'says 200 and then garbage',
    server: answers(200, { 'content-type': 'application/json' }, Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x7b])),
    ended: delivered,
    status: 200,
  },
  {
    name: 'says 200 and breaks off',
    server: onRequest(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')),
    ended: delivered,
    status: 200,
  },
  // Error answers.
  {
    name: 'redirects to the metadata service',
    server: answers(302, { location: METADATA }),
    ended: retried(/answered 302, a redirect.*set the URL/),
    status: 302,
  },
  {
    name: 'redirects for a repeat',
    server: speaks((_request, response) => void response.writeHead(307, { location: behindRedirect.url }).end()),
    ended: retried(/answered 307, a redirect/),
    status: 307,
  },
  { name: 'answers 304', server: answers(304), ended: retried(/answered 304/), status: 304 },
  { name: 'answers 401', server: answers(401), ended: retried(/answered 401/), status: 401 },
  { name: 'answers 404', server: answers(404), ended: retried(/answered 404/), status: 404 },
  { name: 'answers 410', server: answers(410), ended: { state: 'dead', reason: /410 Gone/ }, status: 410 },
  { name: 'answers 429', server: answers(429), ended: retried(/answered 429/), status: 429 },
  {
    name: 'answers 429 with Retry-After in seconds',
    server: answers(429, { 'retry-after': '120' }),
    ended: retried(/answered 429/, 'deliveries.retry.10m'),
    status: 429,
  },
  {
    name: 'answers 429 with Retry-After as a date',
    server: answers(429, { 'retry-after': inTwoMinutes }),
    ended: retried(/answered 429/, 'deliveries.retry.10m'),
    status: 429,
  },
  {
    name: 'answers 429 with a Retry-After in words',
    server: answers(429, { 'retry-after': 'soon' }),
    ended: retried(/answered 429/),
    status: 429,
  },
  { name: 'answers 500', server: answers(500), ended: retried(/answered 500/), status: 500 },
  { name: 'answers 502', server: answers(502), ended: retried(/answered 502/), status: 502 },
  {
    name: 'answers 503 with Retry-After',
    server: answers(503, { 'retry-after': '30' }),
    ended: retried(/answered 503/, 'deliveries.retry.1m'),
    status: 503,
  },
]

describe('a receiver that', () => {
  test.each(rows)('$name: $ended.state', async ({ server: start, ended, status, ends = 'at_once' }) => {
    const server = await start()
    const heldBefore = heldBytes()
    const { delivery, health, tookMs, received } = await attemptDelivery(webhookChannel('chn_a', server.url), {
      egress,
    })

    expect(delivery).toMatchObject({ state: ended.state, attempts: [{ attempt: 1, status }] })
    expect(delivery.next_attempt?.topic).toBe(ended.topic)
    const [{ error, response } = { error: null, response: null }] = delivery.attempts
    if (ended.reason === undefined) expect(error).toBeNull()
    else expect(error).toMatch(ended.reason)
    expect(Buffer.byteLength(response ?? '')).toBeLessThanOrEqual(1024)
    expect(health?.disabled_at ?? null).toEqual(ended.state === 'dead' ? expect.any(Date) : null)
    // The record reveals no address of the internal network.
    expect(`${error}${health?.last_error}`).not.toMatch(/127\.0\.0\.1|localhost|169\.254/)

    expect(tookMs).toBeLessThan(ends === 'deadline' ? ATTEMPT_MS + GRACE_MS : ATTEMPT_MS)
    if (ends === 'deadline') expect(tookMs).toBeGreaterThan(ATTEMPT_MS * 0.9)
    expect(heldBytes() - heldBefore).toBeLessThan(HELD_AT_MOST)
    expect(received.length).toBeLessThan(20_000)
    // A complete answer may keep its connection for the next delivery. All other connections must be closed.
    await until('no more than one connection is left', () => server.open() <= 1)
    await server.stop()
  })

  test('redirects is not followed', () => {
    expect(behindRedirect.connections.accepted).toBe(0)
  })
})

/** Extra time for a busy machine, in milliseconds. */
const GRACE_MS = 10_000
/** Limit of additional memory: far more than the 64 KiB that are read, far less than the data that the server sends. */
const HELD_AT_MOST = 48 * 1024 * 1024

const heldBytes = () => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
