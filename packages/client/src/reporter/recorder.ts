/** Turns the requests that a library sends into reports. */
import { newKey } from '../new-key.ts'
import type { Failure, ProviderCall, Recorder, ReportedRequest, Route, SentRequest } from '../watched-sdks/sdk.ts'
import { within } from './attempt.ts'
import { createReport, REPEAT_WITHIN_MS, type Report, type ReportBody } from './report.ts'
import type { ReporterProblem, ReportQueue } from './report-queue.ts'

/** A refund or cancellation that a reporter is about to report. */
export interface WatchedCall extends ProviderCall {
  /** The method of the library that makes such requests, e.g. `refunds.create`. */
  readonly method: string
  /** The account that the request is for, if it names one: the header `Stripe-Account`, or else `Stripe-Context`. */
  readonly account?: string
}

export interface RecorderOptions {
  readonly routes: readonly Route[]
  readonly queue: ReportQueue
  readonly waitMs: number
  readonly connectionId: string | ((call: WatchedCall) => string | null)
  readonly runId?: string | (() => string | undefined) | undefined
  readonly onProblem: (problem: ReporterProblem) => void
}

const MOST_REPEATABLE = 1_000

type Common = Omit<ReportBody, 'state'>
type End = Pick<ReportBody, 'state' | 'provider_ref' | 'provider_request_id' | 'reason'>

/** @returns a recorder that reports nothing after `stop`. A client that was made from a watched client may still use it then */
export function createRecorder(options: RecorderOptions): Recorder & { stop(): void } {
  const { queue, waitMs, onProblem } = options
  let { routes } = options
  /** True if the last report was delivered in time. While Backstop is slow or down, requests do not wait. */
  let isPrompt = true
  const repeatable = createRepeatable()
  const attempt = createAttempt(onProblem)

  /** Reports a request before it is sent. Resolves when the request may be sent. */
  async function reportBefore(method: string, report: Report, isRepeat: boolean): Promise<void> {
    const startedAtMs = performance.now()
    const delivered = attempt(method, () => queue.add(report))
    if (delivered === undefined) return
    void delivered.then(isDelivered => {
      isPrompt = isDelivered && performance.now() - startedAtMs <= waitMs
    })
    // A library may repeat a request several times, and its call must wait for one report only.
    if (isPrompt && !isRepeat && (await within(waitMs, delivered)) === undefined) isPrompt = false
  }

  function beginRequest(route: Route, id: string, where: string, request: SentRequest): ReportedRequest | undefined {
    const found = route.read(id, request.params)
    if (found === undefined) return undefined
    const given = route.idempotentBy === 'key' ? request.idempotencyKey : undefined
    const account = request.account ?? ''
    const repeatedAs = route.idempotentBy === 'path' ? `${where} ${account}` : given
    const earlier = repeatable.find(repeatedAs)
    const key = given ?? earlier ?? newKey()
    const before = found === 'in_answer' ? undefined : commonOf(options, route, request, found, key)
    if (found !== 'in_answer' && before === undefined) return undefined
    if (route.idempotentBy === 'key' && given === undefined) request.addKey?.(key)

    const began = new Date().toISOString()
    const report = (common: Common | undefined, end: End, notBeforeMs?: number) => {
      if (common === undefined) return
      const ended = end.state === 'awaiting_review' ? {} : { ended_at: new Date().toISOString() }
      void queue.add(createReport({ ...common, ...end, executing_at: began, ...ended }, notBeforeMs))
    }
    const executing = before && createReport({ ...before, state: 'executing', executing_at: began })
    return {
      tryToRead: work => void attempt(route.name, work),
      mayBeSent:
        executing === undefined ? Promise.resolve() : reportBefore(route.name, executing, earlier !== undefined),
      succeed: (answer, requestId) =>
        void attempt(route.name, () => {
          repeatable.forget(repeatedAs ?? key)
          const known = found === 'in_answer' ? route.read(id, request.params, answer) : undefined
          const common =
            known === undefined || known === 'in_answer' ? before : commonOf(options, route, request, known, key)
          const { state, providerRef } = route.readOutcome(answer)
          const named = providerRef === undefined ? {} : { provider_ref: providerRef }
          report(common, { state, ...named, ...answeredAs(requestId) })
        }),
      fail: ({ isRefusal, reason }: Failure, requestId) =>
        void attempt(route.name, () => {
          const untilMs = Date.now() + REPEAT_WITHIN_MS
          if (isRefusal) repeatable.forget(repeatedAs ?? key)
          else if (route.idempotentBy !== 'nothing') repeatable.add(repeatedAs ?? key, { key, untilMs })
          report(before, { state: 'failed', reason, ...answeredAs(requestId) }, isRefusal ? undefined : untilMs)
        }),
    }
  }

  return {
    stop() {
      routes = []
    },
    isWatched: (verb, path) => attempt(path, () => findRoute(routes, verb, path)) !== undefined,
    begin: (verb, path, read) => {
      const match = attempt(path, () => findRoute(routes, verb, path))
      if (match === undefined) return undefined
      return attempt(match.route.name, () => beginRequest(match.route, match.id, `${verb} ${path}`, read()))
    },
  }
}

/** @returns a function that runs code of the reporter, whose errors must not reach the caller */
function createAttempt(onProblem: RecorderOptions['onProblem']) {
  return <T>(method: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      onProblem({ kind: 'unreadable', method, error })
      return undefined
    }
  }
}

function answeredAs(requestId: string | undefined): Pick<End, 'provider_request_id'> {
  return requestId === undefined ? {} : { provider_request_id: requestId }
}

/** @returns undefined for a call of no connection */
function commonOf(
  { connectionId, runId }: RecorderOptions,
  route: Route,
  request: SentRequest,
  found: ProviderCall,
  key: string,
): Common | undefined {
  const { kind, subject, amount, currency } = found
  const { account } = request
  const call = { ...found, method: route.name, ...(account === undefined ? {} : { account }) }
  const connection = typeof connectionId === 'string' ? connectionId : connectionId(call)
  if (connection === null) return undefined
  const run = typeof runId === 'function' ? runId() : runId
  return {
    connection_id: connection,
    kind,
    subject,
    idempotency_key: key,
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency: currency.toLowerCase() }),
    ...(run === undefined ? {} : { run_id: run }),
  }
}

function findRoute(routes: readonly Route[], verb: string, path: string): { route: Route; id: string } | undefined {
  const [pathname = ''] = path.split('?')
  for (const route of routes) {
    const match = route.verb === verb.toUpperCase() ? route.path.exec(pathname) : null
    if (match !== null) return { route, id: decodeURIComponent(match[1] ?? '') }
  }
  return undefined
}

interface Repeatable {
  readonly key: string
  readonly untilMs: number
}

/** Remembers the requests that failed temporarily, so that a repeat of one is the same operation. */
function createRepeatable() {
  const requests = new Map<string, Repeatable>()
  return {
    find(name: string | undefined): string | undefined {
      const known = name === undefined ? undefined : requests.get(name)
      return known !== undefined && known.untilMs > Date.now() ? known.key : undefined
    },
    forget: (name: string) => requests.delete(name),
    add(name: string, request: Repeatable) {
      const [oldest] = requests.keys()
      if (requests.size >= MOST_REPEATABLE && oldest !== undefined) requests.delete(oldest)
      requests.set(name, request)
    },
  }
}
