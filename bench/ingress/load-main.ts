/**
 * Posts prepared, signed events over keep-alive sockets. It writes and reads bytes without an HTTP client, because a
 * client would use more of the shared cores than the server under test.
 */
import { connect, type Socket } from 'node:net'
import { percentile } from '../frame/statistics.ts'
import type { LoadOrder, LoadReport } from './load.ts'
import { signedRequests } from './requests.ts'

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /content-length: (\d+)/i

/** Counts answers. Latencies are kept only while `isMeasuring`. */
class Tally {
  isMeasuring = false
  latenciesMs: number[] = []
  readonly statuses: Record<string, number> = {}
  #total = 0
  #awaited = { total: 0, resolve: () => {} }

  /** Resolves when this many answers have arrived. */
  untilTotal(total: number): Promise<void> {
    return new Promise(resolve => {
      this.#awaited = { total, resolve }
    })
  }

  add(status: string, tookMs: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    this.#total += 1
    if (this.#total === this.#awaited.total) this.#awaited.resolve()
    if (this.isMeasuring) this.latenciesMs.push(tookMs)
  }
}

/** Keeps one request in flight on one socket, and opens the next socket when the server closes this one. */
class Client {
  readonly #port: number
  readonly #nextRequest: () => Buffer
  readonly #tally: Tally
  #socket: Socket | undefined
  #sentAtMs = 0
  #unread = ''
  #isStopped = false

  constructor(port: number, nextRequest: () => Buffer, tally: Tally) {
    this.#port = port
    this.#nextRequest = nextRequest
    this.#tally = tally
  }

  open(): void {
    if (this.#isStopped) return
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    this.#unread = ''
    socket.setEncoding('latin1')
    socket.on('connect', () => this.#post())
    socket.on('data', (chunk: string) => this.#read(chunk))
    // A reset connection is opened again by 'close'.
    socket.on('error', () => {})
    socket.on('close', () => this.open())
  }

  stop(): void {
    this.#isStopped = true
    this.#socket?.destroy()
  }

  #post(): void {
    this.#sentAtMs = performance.now()
    this.#socket?.write(this.#nextRequest())
  }

  #read(chunk: string): void {
    const text = this.#unread + chunk
    const headEnd = text.indexOf(HEAD_END)
    const head = headEnd < 0 ? '' : text.slice(0, headEnd)
    const length = headEnd + HEAD_END.length + Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0)
    if (headEnd < 0 || text.length < length) {
      this.#unread = text
      return
    }
    this.#unread = ''
    this.#tally.add(text.slice(9, 12), performance.now() - this.#sentAtMs)
    if (head.toLowerCase().includes('connection: close')) this.#socket?.end()
    else this.#post()
  }
}

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const report = (message: LoadReport) => process.send?.(message)

async function measure(order: LoadOrder): Promise<void> {
  const requests = signedRequests(order)
  let next = 0
  const tally = new Tally()
  const clients = Array.from(
    { length: order.sockets },
    () => new Client(order.port, () => requests[next++ % requests.length]!, tally),
  )
  for (const client of clients) client.open()
  await tally.untilTotal(order.warmUpAnswers)
  report({ kind: 'warm' })
  tally.isMeasuring = true
  const beganMs = performance.now()
  await wait(order.measureMs)
  tally.isMeasuring = false
  const tookMs = performance.now() - beganMs
  for (const client of clients) client.stop()
  const { latenciesMs, statuses } = tally
  report({
    kind: 'done',
    perSecond: (latenciesMs.length / tookMs) * 1_000,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    answers: latenciesMs.length,
    statuses,
  })
}

// Keeps the process alive until it is stopped.
process.channel?.ref()
process.on('message', message => void measure(message as LoadOrder))
