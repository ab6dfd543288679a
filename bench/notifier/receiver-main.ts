/**
 * The customers' endpoints, in a separate process, so that their work does not count as the sender's. They answer 200
 * at once and record the arrival of requests. `/hang/…` is never answered, `/uncounted/…` is not recorded.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExpectedRequests } from './receiver.ts'

let expected: ExpectedRequests = { count: 0, warmUp: 0, readsBodies: false }
let count = 0
let warmedUpAtMs = 0
let latenciesMs: number[] = []

/** Records the delay relative to the alert's own time, as a customer sees it. */
function noteLatency(request: IncomingMessage): void {
  const atMs = Date.now()
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const { created_at } = JSON.parse(Buffer.concat(chunks).toString()) as { created_at: string }
    latenciesMs.push(atMs - Date.parse(created_at))
    noteArrival()
  })
}

function noteArrival(): void {
  count++
  if (count === expected.warmUp) {
    warmedUpAtMs = performance.now()
    latenciesMs = []
    process.send?.('warm')
  }
  if (count === expected.count) process.send?.({ tookMs: performance.now() - warmedUpAtMs, latenciesMs })
}

const server = createServer((request, response) => {
  if (request.url?.startsWith('/hang/')) {
    request.resume()
    return
  }
  if (request.url?.startsWith('/uncounted/')) request.resume()
  else if (expected.readsBodies) noteLatency(request)
  else request.resume().on('end', noteArrival)
  request.on('end', () => response.writeHead(200).end('ok'))
})
server.keepAliveTimeout = 60_000
server.requestTimeout = 0
process.on('message', message => {
  expected = message as ExpectedRequests
  count = 0
  latenciesMs = []
  process.send?.('ready')
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
