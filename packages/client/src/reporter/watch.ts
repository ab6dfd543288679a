import { ApiProblem } from '../api-problem.ts'
import { type Client, type ClientOptions, createClient } from '../create-client.ts'
import { SDKS } from '../watched-sdks/all-sdks.ts'
import { createRecorder, type WatchedCall } from './recorder.ts'
import type { Report, ReportBody } from './report.ts'
import { type QueueStatus, type ReporterProblem, ReportQueue, type Spool } from './report-queue.ts'

export interface ReporterOptions extends Pick<ClientOptions, 'baseUrl' | 'fetch'> {
  /** An API key with the scope `operations:write`. */
  readonly key: string
  /** The connection of the account. A function may choose it for each call; null means that the call is not reported. */
  readonly connectionId: string | ((call: WatchedCall) => string | null)
  /** Milliseconds of the timer that ends the wait of a call for the report before it, at most 50. Default: 20. */
  readonly waitMs?: number
  /** The largest number of operations that wait while Backstop is down. Default: 10,000. */
  readonly maxQueued?: number
  /** Keeps waiting reports across restarts, for example `createFileSpool` of `@backstop/client/file-spool`. */
  readonly spool?: Spool
  /** Called when reports are delayed or lost. Default: a warning on the console. */
  readonly onProblem?: (problem: ReporterProblem) => void
  /** Groups the operations of one run of the software. */
  readonly runId?: string | (() => string | undefined)
}

export interface Reporter {
  status(): QueueStatus
  /** Sends everything that waits. @returns false if something still waits after `timeoutMs` (default 10,000) */
  flush(options?: { readonly timeoutMs?: number }): Promise<boolean>
  /** Ends the reporting, after a flush. Unsent reports stay in the spool. @returns as `flush` */
  close(options?: { readonly timeoutMs?: number }): Promise<boolean>
}

const LONGEST_WAIT_MS = 50
const REPORT_TIMEOUT_MS = 10_000
const FLUSH_TIMEOUT_MS = 10_000

const watched = new WeakSet<object>()

/**
 * Reports every refund and cancellation that a client of Stripe, Paddle or Chargebee makes from now on, by the requests that the
 * client sends. Code that uses the client stays as it is. A call is never refused by the reporter, and waits for it until a timer of
 * `waitMs` ends.
 * @throws TypeError if the client is not supported or already watched, RangeError for a `waitMs` over 50
 */
export function watch(client: object, options: ReporterOptions): Reporter {
  const sdk = SDKS.find(known => known.recognises(client))
  if (sdk === undefined)
    throw new TypeError('Pass a client of stripe, @paddle/paddle-node-sdk or chargebee (3 or newer)')
  if (watched.has(client)) throw new TypeError('This client is already watched; close its reporter first')
  const { waitMs = 20, maxQueued = 10_000, baseUrl, key, fetch } = options
  if (!(waitMs >= 0 && waitMs <= LONGEST_WAIT_MS)) throw new RangeError('waitMs: use 0 to 50')
  const api = createClient({ baseUrl, key, retries: 0, timeoutMs: REPORT_TIMEOUT_MS, ...(fetch ? { fetch } : {}) })
  const onProblem = safely(options.onProblem ?? warn)
  const queue = new ReportQueue({
    send: bodies => sendBatch(api, bodies),
    maxQueued,
    onProblem,
    ...(options.spool === undefined ? {} : { spool: options.spool }),
  })
  const { connectionId, runId } = options
  const recorder = createRecorder({ routes: sdk.routes, queue, waitMs, connectionId, runId, onProblem })
  const stopWatching = sdk.watchRequests(client, recorder)
  watched.add(client)
  return {
    status: () => queue.status(),
    flush: ({ timeoutMs = FLUSH_TIMEOUT_MS } = {}) => queue.flush(timeoutMs),
    async close({ timeoutMs = FLUSH_TIMEOUT_MS } = {}) {
      stopWatching()
      recorder.stop()
      watched.delete(client)
      const isEmpty = await queue.flush(timeoutMs)
      await queue.stop()
      return isEmpty
    },
  }
}

/** @returns for each report, in their order, why it was refused; undefined if it was recorded */
async function sendBatch(api: Client, bodies: readonly ReportBody[]): Promise<(ApiProblem | undefined)[]> {
  const items = bodies.map(body => ({ ...body, type: 'report' as const }))
  const { results } = await api.operations.batch({ items })
  return bodies.map((_, at) => {
    const { status = 0, problem = {} } = results[at] ?? {}
    return problem === null ? undefined : new ApiProblem(status, problem)
  })
}

function safely(onProblem: (problem: ReporterProblem) => void): (problem: ReporterProblem) => void {
  return problem => {
    try {
      onProblem(problem)
    } catch {
      // An error of this function must not reach the call that is reported.
    }
  }
}

function warn(problem: ReporterProblem): void {
  console.warn(`Backstop: ${describeProblem(problem)}`)
}

function describeProblem(problem: ReporterProblem): string {
  switch (problem.kind) {
    case 'undelivered':
      return `${problem.queued} reports wait: ${problem.error.message}`
    case 'dropped':
      return `a report was lost, because too many wait: ${nameOf(problem.report)}`
    case 'refused':
      return `a report was refused: ${nameOf(problem.report)}: ${problem.error.message}`
    case 'unreadable':
      return `a call of ${problem.method} was not reported: ${String(problem.error)}`
    default:
      throw problem satisfies never
  }
}

function nameOf({ body }: Report): string {
  return `${body.kind} of ${body.subject} (${body.state})`
}
