/** A stand-in for the API of a provider that records each request as it arrives, byte for byte. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ArrivedRequest {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  /** Names and values in the order in which they arrived. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** What a provider answers; `status` is 200 if absent. `hang up` closes the connection, `none` leaves it open. */
export interface Answer {
  readonly status?: number | 'hang up' | 'none'
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object | string
}

export interface RecordingProvider {
  readonly port: number
  /** Removes and returns the requests that arrived. */
  take(): readonly ArrivedRequest[]
  /** The first requests from now on are answered with these statuses and an error. */
  failNext(...statuses: number[]): void
  stop(): Promise<void>
}

export async function startRecordingProvider(
  answer: (request: ArrivedRequest) => Answer,
  error: (status: number) => object,
): Promise<RecordingProvider> {
  const arrived: ArrivedRequest[] = []
  const failures: number[] = []
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const names = incoming.rawHeaders.filter((_, at) => at % 2 === 0)
    const request = {
      method: String(incoming.method),
      path: String(incoming.url),
      headers: names.map((name, at) => [name, String(incoming.rawHeaders[at * 2 + 1])] as const),
      body: Buffer.concat(chunks).toString('utf8'),
    }
    arrived.push(request)
    const failing = failures.shift()
    const given: Answer = failing === undefined ? answer(request) : { status: failing, body: error(failing) }
    const { status = 200, body } = given
    if (status === 'hang up') return outgoing.destroy()
    if (status === 'none') return
    const headers = { 'content-type': 'application/json', 'request-id': 'req_1', ...given.headers }
    // Answers of two seconds would differ by their date.
    outgoing.sendDate = false
    outgoing.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    take: () => arrived.splice(0),
    failNext: (...statuses) => void failures.push(...statuses),
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
