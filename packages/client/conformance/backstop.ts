/** A stand-in for Backstop that records reports. It takes what the product takes, by the product's schema of a batch. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NewOperation, OperationBatch } from '@backstop/contracts'
import type { Behaviour } from './case.ts'

type ReportBody = NewOperation & { readonly type?: 'report' }

export interface RecordedReport extends NewOperation {
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly arrivedAtMs: number
}

export interface RecordingServer {
  readonly url: string
  /** The accepted reports since the last call. */
  take(): readonly RecordedReport[]
  count(): number
  behave(as: Behaviour): Promise<void>
  stop(): Promise<void>
}

const KEY = 'conformance-key'

export async function startRecordingServer(): Promise<RecordingServer> {
  let behaviour: Behaviour = 'up'
  const accepted: RecordedReport[] = []

  function resultOf({ type: _, ...report }: ReportBody) {
    if (typeof behaviour === 'object' && report.subject === behaviour.subject) return refusal(behaviour)
    accepted.push({ ...report, arrivedAtMs: performance.now() })
    return { status: 201, operation: {}, problem: null }
  }

  function answerTo(path: string, key: string | undefined, text: string): { status: number; body: object } {
    if (key !== `Bearer ${KEY}`) return { status: 401, body: problem(401, 'unauthenticated') }
    if (typeof behaviour === 'object' && behaviour.subject === undefined) {
      return { status: behaviour.status, body: problem(behaviour.status, behaviour.code) }
    }
    const isBatch = path === '/v1/operations/batch'
    if (!isBatch && path !== '/v1/operations') return { status: 404, body: problem(404, 'not_found') }
    const parsed = (isBatch ? OperationBatch : NewOperation).safeParse(JSON.parse(text))
    if (!parsed.success)
      return { status: 400, body: { ...problem(400, 'invalid_request'), detail: parsed.error.message } }
    if ('items' in parsed.data)
      return { status: 200, body: { results: (parsed.data.items as ReportBody[]).map(resultOf) } }
    const result = resultOf(parsed.data)
    return { status: result.status, body: result.problem ?? {} }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (behaviour === 'silent') return
    const text = Buffer.concat(chunks).toString('utf8')
    const { status, body } = answerTo(String(request.url), request.headers.authorization, text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise(resolve => server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${port}`,
    take: () => accepted.splice(0),
    count: () => accepted.length,
    async behave(as) {
      if (as === 'down') await close()
      else if (!server.listening) await listen(port)
      if (behaviour === 'silent') server.closeAllConnections()
      behaviour = as
    },
    stop: close,
  }
}

function refusal({ status, code }: Exclude<Behaviour, string>) {
  return { status, operation: null, problem: problem(status, code) }
}

function problem(status: number, code: string) {
  return { type: `urn:${code}`, title: code, status, code, detail: code }
}

/** The key that a reporter sends. */
export const BACKSTOP_KEY = KEY
