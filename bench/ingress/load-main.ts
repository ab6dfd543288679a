/** Posts prepared, signed events over keep-alive sockets, each as soon as the answer to the one before has arrived. */
import { percentile } from '../frame/statistics.ts'
import { Client } from './client.ts'
import type { LoadOrder, LoadReport } from './load.ts'
import { signedRequests } from './requests.ts'

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

/** Keeps one request in flight on one socket. */
function openClient(port: number, nextRequest: () => Buffer, tally: Tally): Client {
  let sentAtMs = 0
  const client = new Client(port, {
    onFree() {
      sentAtMs = performance.now()
      client.post(nextRequest())
    },
    onAnswer: status => tally.add(status, performance.now() - sentAtMs),
    onClose() {},
  })
  client.open()
  return client
}

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const report = (message: LoadReport) => process.send?.(message)

async function measure(order: LoadOrder): Promise<void> {
  const requests = signedRequests(order)
  let next = 0
  const tally = new Tally()
  const clients = Array.from({ length: order.sockets }, () =>
    openClient(order.port, () => requests[next++ % requests.length]!, tally),
  )
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
