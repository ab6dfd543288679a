import { type ClientOptions, createClient } from '../create-client.ts'
import { newKey } from '../new-key.ts'
import { SDKS } from '../sdks/all-sdks.ts'
import { type ProviderCall, valueAt, type WatchedMethod } from '../sdks/sdk.ts'
import { readFailure } from './failure.ts'
import { createReport, REPEAT_WITHIN_MS, type Report, type ReportBody } from './report.ts'
import { type QueueStatus, type ReporterProblem, ReportQueue, type Spool, within } from './report-queue.ts'

/** A refund or cancellation that a reporter is about to report. */
export interface WatchedCall extends ProviderCall {
  /** The method of the library, e.g. `refunds.create`. */
  readonly method: string
  readonly args: readonly unknown[]
}

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

type Method = (...args: unknown[]) => unknown
const watched = new WeakSet<object>()

/**
 * Reports every refund and cancellation that a client of Stripe, Paddle or Chargebee makes from now on. The client itself is changed, so
 * the code that uses it stays as it is. A call is never refused by the reporter, and waits for it until a timer of `waitMs` ends.
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
    send: body => api.operations.create(body),
    maxQueued,
    onProblem,
    ...(options.spool === undefined ? {} : { spool: options.spool }),
  })
  const recorder = createRecorder(queue, waitMs, options, onProblem)
  const restores = sdk.methods.flatMap(method => replaceMethod(client, method, recorder))
  watched.add(client)
  return {
    status: () => queue.status(),
    flush: ({ timeoutMs = FLUSH_TIMEOUT_MS } = {}) => queue.flush(timeoutMs),
    async close({ timeoutMs = FLUSH_TIMEOUT_MS } = {}) {
      for (const restore of restores) restore()
      watched.delete(client)
      const isEmpty = await queue.flush(timeoutMs)
      await queue.stop()
      return isEmpty
    },
  }
}

/** Replaces a method of the client, if it has it. @returns functions that restore it */
function replaceMethod(client: object, method: WatchedMethod, recorder: Recorder): (() => void)[] {
  const at = method.path.lastIndexOf('.')
  const owner = at < 0 ? client : valueAt(client, method.path.slice(0, at))
  const name = method.path.slice(at + 1)
  const original = valueAt(owner, name)
  if (typeof owner !== 'object' || owner === null || typeof original !== 'function') return []
  const own = Object.getOwnPropertyDescriptor(owner, name)
  const replacement = function (this: unknown, ...args: unknown[]) {
    return recorder(method, args, changed => (original as Method).apply(this ?? owner, [...changed]))
  }
  Object.defineProperty(owner, name, {
    value: replacement,
    configurable: true,
    writable: true,
    enumerable: own?.enumerable ?? false,
  })
  return [() => (own === undefined ? Reflect.deleteProperty(owner, name) : Object.defineProperty(owner, name, own))]
}

type Recorder = (
  method: WatchedMethod,
  args: readonly unknown[],
  call: (args: readonly unknown[]) => unknown,
) => unknown

/** Makes the function that each watched call goes through. */
function createRecorder(
  queue: ReportQueue,
  waitMs: number,
  { connectionId, runId }: ReporterOptions,
  onProblem: (problem: ReporterProblem) => void,
): Recorder {
  /** True if the last report was delivered in time. While Backstop is slow or down, calls do not wait. */
  let isPrompt = true

  async function reportBefore(method: WatchedMethod, report: Report): Promise<void> {
    const startedAtMs = performance.now()
    const delivered = attempt(method, () => queue.add(report))
    if (delivered === undefined) return
    void delivered.then(isDelivered => {
      isPrompt = isDelivered && performance.now() - startedAtMs <= waitMs
    })
    if (isPrompt && (await within(waitMs, delivered)) === undefined) isPrompt = false
  }

  /** Runs code of the reporter, whose errors must not reach the caller. */
  function attempt<T>(method: WatchedMethod, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      onProblem({ kind: 'unreadable', method: method.path, error })
      return undefined
    }
  }

  /** The fields that all reports of a call have; undefined if the call is not reported. */
  function bodyOf(method: WatchedMethod, args: readonly unknown[], found: ProviderCall | undefined, key: string) {
    if (found === undefined) return undefined
    const { kind, subject, amount, currency } = found
    const connection =
      typeof connectionId === 'string' ? connectionId : connectionId({ ...found, method: method.path, args })
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

  return async (method, args, call) => {
    const began = new Date()
    const identified = attempt(method, () => identify(method, args)) ?? { key: newKey(), sent: args }
    const before = attempt(method, () => bodyOf(method, args, method.read(args), identified.key))
    if (before !== undefined) {
      const executing: ReportBody = { ...before, state: 'executing', executing_at: began.toISOString() }
      await reportBefore(method, createReport(executing))
    }
    const report = (
      common: typeof before,
      end: Pick<ReportBody, 'state' | 'provider_ref' | 'reason'>,
      notBeforeMs?: number,
    ) => {
      if (common === undefined) return
      const times = { executing_at: began.toISOString(), ended_at: new Date().toISOString() }
      const { state } = end
      const body = {
        ...common,
        ...end,
        ...(state === 'awaiting_review' ? { executing_at: times.executing_at } : times),
      }
      void queue.add(createReport(body, notBeforeMs))
    }
    let answer: unknown
    try {
      answer = await call(identified.sent)
    } catch (error) {
      attempt(method, () => {
        const { isRefusal, reason } = readFailure(error)
        report(before, { state: 'failed', reason }, isRefusal ? undefined : Date.now() + REPEAT_WITHIN_MS)
      })
      throw error
    }
    attempt(method, () => {
      const common = before ?? bodyOf(method, args, method.read(args, answer), identified.key)
      const { state, providerRef } = method.readOutcome(answer)
      report(common, { state, ...(providerRef === undefined ? {} : { provider_ref: providerRef }) })
    })
    return answer
  }
}

/** The idempotency key of a call, and the arguments with it. Without a place for a key it only identifies the operation. */
function identify({ idempotency }: WatchedMethod, args: readonly unknown[]): { key: string; sent: readonly unknown[] } {
  const given = idempotency?.keyOf(args)
  if (given !== undefined) return { key: given, sent: args }
  const key = newKey()
  return { key, sent: idempotency?.withKey(args, key) ?? args }
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
