/** Plays the cases with one driver, and says where a reporter breaks what every reporter promises. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { until } from '@backstop/kit/test'
import { type ArrivedRequest, type RecordingProvider, startRecordingProvider } from '../test/recording-provider.ts'
import { BACKSTOP_KEY, type RecordedReport, type RecordingServer, startRecordingServer } from './backstop.ts'
import type { Answer, Call, ConformanceCase, ExpectedResult, Library, Step } from './case.ts'
import { type CallResult, DriverProcess } from './driver-process.ts'

/** What a case showed. `unsupported`: the library of this language cannot make the call. */
export type CaseOutcome = {
  readonly name: string
  readonly kind: 'passed' | 'failed' | 'unsupported'
  /** Why it did not pass. */
  readonly why?: string
  /** True if it failed only because something took too long. */
  readonly isLate?: boolean
}

type Of<K extends string> = Extract<Step, Record<K, unknown>>

const CONNECTION = 'con_1'
const TIMEOUT_MS = 10_000
/** A report leaves at once. Without a step `flush` before it, it may be on its way. */
const REPORTED_WITHIN_MS = 3_000
const ANY = 'any'
/** The timer of a call beside its report, and what a busy machine adds to it. */
const LONGEST_CALL_MS = 50 + 450

/** Headers that differ between two equal calls: random numbers, durations, and the key that a reporter may add. */
const VOLATILE = /telemetry|^x-transaction-id$|idempotency-key$|^authorization$/i
const KEY_HEADERS: Readonly<Record<Library, string | undefined>> = {
  stripe: 'idempotency-key',
  chargebee: 'chargebee-idempotency-key',
  paddle: undefined,
}

class Unsupported extends Error {}
/** A busy machine may be the cause. */
class Late extends Error {}

export class Player {
  readonly #command: readonly string[]
  readonly #env: NodeJS.ProcessEnv
  readonly #backstop: RecordingServer
  #provider: RecordingProvider | undefined
  #driver: DriverProcess | undefined
  #answers: readonly Answer[] = []
  /** When each request of the case arrived at the provider, in milliseconds of `performance.now()`. */
  #requestedAtMs: number[] = []

  private constructor(command: readonly string[], env: NodeJS.ProcessEnv, backstop: RecordingServer) {
    this.#command = command
    this.#env = env
    this.#backstop = backstop
  }

  /** @param command the program that is the driver, and its arguments */
  static async open(command: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Player> {
    const player = new Player(command, env, await startRecordingServer())
    const error = () => ({})
    player.#provider = await startRecordingProvider(() => player.#nextAnswer(), error)
    return player
  }

  async close(): Promise<void> {
    await this.#driver?.kill()
    await this.#provider?.stop()
    await this.#backstop.stop()
  }

  async play(theCase: ConformanceCase): Promise<CaseOutcome> {
    const { name } = theCase
    const spool = theCase.usesSpool ? mkdtempSync(join(tmpdir(), 'conformance-')) : null
    try {
      const plain = theCase.isCompared ? await this.#playSteps(theCase, null, false) : undefined
      const watched = await this.#playSteps(theCase, spool, true)
      if (plain !== undefined) same('The requests, with and without a reporter', watched, plain)
      return { name, kind: 'passed' }
    } catch (error) {
      if (error instanceof Unsupported) return { name, kind: 'unsupported', why: error.message }
      await this.#driver?.kill()
      this.#driver = undefined
      const why = error instanceof Error ? error.message : String(error)
      return { name, kind: 'failed', why, isLate: error instanceof Late }
    } finally {
      if (spool !== null) rmSync(spool, { recursive: true, force: true })
    }
  }

  /** @returns the requests of all calls, as far as they can be compared */
  async #playSteps(theCase: ConformanceCase, spool: string | null, isWatched: boolean): Promise<unknown[]> {
    await this.#backstop.behave('up')
    await this.#watch(theCase, spool, isWatched)
    this.#backstop.take()
    this.#requestedAtMs = []
    const sent: ArrivedRequest[] = []
    for (const step of theCase.steps) {
      if ('call' in step) sent.push(...(await this.#call(step, isWatched)))
      else if (isWatched) await this.#check(step, theCase, spool, sent)
    }
    await this.#do({ step: 'close', timeout_ms: 100 })
    return sent.map(({ method, path, headers, body }) => ({
      method,
      path,
      body,
      headers: headers.filter(([header]) => !VOLATILE.test(header)),
    }))
  }

  async #watch({ library, maxQueued }: ConformanceCase, spool: string | null, watched: boolean): Promise<void> {
    this.#driver ??= await DriverProcess.start(this.#command, this.#env)
    const { unsupported } = await this.#do<{ unsupported?: string }>({
      step: 'watch',
      library,
      provider_url: `http://127.0.0.1:${this.#provider?.port}`,
      backstop_url: this.#backstop.url,
      key: BACKSTOP_KEY,
      connection_id: CONNECTION,
      spool_folder: spool,
      max_queued: maxQueued,
      watched,
    })
    if (unsupported !== undefined) throw new Unsupported(unsupported)
  }

  async #call(
    { call, times, answers, result, within_ms = LONGEST_CALL_MS, median_ms }: Of<'call'>,
    isWatched: boolean,
  ) {
    this.#answers = answers
    const results: CallResult[] = []
    const steps = median_ms === undefined ? [times] : Array.from({ length: times }, () => 1)
    for (const length of steps) {
      const calls = Array.from({ length }, () => call)
      results.push(...(await this.#do<{ calls: CallResult[] }>({ step: 'call', calls })).calls)
    }
    for (const got of results) {
      if (got.unsupported !== undefined) throw new Unsupported(got.unsupported)
      checkResult(got, result)
      if (isWatched && got.ms > within_ms) throw new Late(`The call took ${Math.round(got.ms)} ms, not ${within_ms}`)
    }
    const median = results.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(results.length / 2)] ?? 0
    if (median > (median_ms ?? Infinity)) throw new Late(`The calls took ${Math.round(median)} ms, not ${median_ms}`)
    return this.#provider?.take() ?? []
  }

  async #check(
    step: Exclude<Step, Of<'call'>>,
    theCase: ConformanceCase,
    spool: string | null,
    sent: ArrivedRequest[],
  ) {
    if ('backstop' in step) await this.#backstop.behave(step.backstop)
    else if ('reports' in step) await this.#checkReports(step, theCase.library, sent)
    else if ('state' in step) {
      const last = new Map(this.#backstop.take().map(report => [report.idempotency_key, report.state]))
      same(
        'The last states',
        [...last.values()],
        Array.from({ length: step.operations }, () => step.state),
      )
    } else if ('flush' in step) {
      const { flushed } = await this.#do<{ flushed: boolean }>({
        step: 'flush',
        timeout_ms: step.flush ? TIMEOUT_MS : 300,
      })
      same('The result of the flush', flushed, step.flush)
    } else if ('close' in step) {
      const { flushed } = await this.#do<{ flushed: boolean }>({
        step: 'close',
        timeout_ms: step.close ? TIMEOUT_MS : 300,
      })
      same('The result of the close', flushed, step.close)
      await this.#watch(theCase, spool, true)
    } else if ('status' in step) {
      const status = await this.#do<Record<string, unknown>>({ step: 'status' })
      same('The status', pick(status, Object.keys(step.status)), step.status)
    } else if ('kill' in step) await this.#restart(theCase, spool)
    else if ('killed_call' in step) await this.#killDuringCall(step.killed_call, theCase, spool ?? '')
    else if (step.spool === 'empty') same('The files of the spool', readdirSync(spool ?? ''), [])
    else await checkPrivate(spool ?? '')
  }

  /** Kills the program and starts it again. */
  async #restart(theCase: ConformanceCase, spool: string | null): Promise<void> {
    await this.#driver?.kill()
    this.#driver = undefined
    await this.#watch(theCase, spool, true)
  }

  /** Makes a call that gets no answer, and restarts the program when the report before it is delivered and in the spool. */
  async #killDuringCall(call: Call, theCase: ConformanceCase, spool: string): Promise<void> {
    this.#answers = [{ status: 'none', headers: {}, body: {} }]
    this.#do({ step: 'call', calls: [call] }).catch(() => {})
    const isSpooled = () =>
      readdirSync(spool).some(file => readFileSync(join(spool, file), 'utf8').includes('executing'))
    await until('the call', () => this.#requestedAtMs.length > 0 && this.#backstop.count() > 0 && isSpooled())
    this.#provider?.take()
    await this.#restart(theCase, spool)
  }

  async #checkReports({ reports, operations = 1 }: Of<'reports'>, library: Library, sent: readonly ArrivedRequest[]) {
    const deadlineMs = performance.now() + REPORTED_WITHIN_MS
    while (this.#backstop.count() < reports.length && performance.now() < deadlineMs) {
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    const got = this.#backstop.take()
    sameReports(got.map(fieldsOf).map(withAnyReason(reports)), reports)
    got.forEach(checkTimes)
    if (reports.length === 0) return
    const keys = new Set(got.map(report => report.idempotency_key))
    same('The number of idempotency keys', keys.size, operations)
    const begun = got.find(({ state }) => state === 'executing')
    const [request] = sent.slice(-1)
    if (operations > 1 || request === undefined) return
    // Only the first request of a call waits for its report.
    const isFirst = sent.length === 1
    if (isFirst && begun !== undefined && begun.arrivedAtMs > (this.#requestedAtMs[0] ?? 0)) {
      throw new Late('The report before the call arrived after its request')
    }
    const header = KEY_HEADERS[library]
    const key = request.headers.find(([name]) => name.toLowerCase() === header)?.[1]
    if (header !== undefined && request.method === 'POST')
      same('The idempotency key that is reported', [...keys], [key])
  }

  #do<T>(step: Parameters<DriverProcess['do']>[0]): Promise<T> {
    if (this.#driver === undefined) throw new Error('There is no driver')
    return this.#driver.do<T>(step)
  }

  #nextAnswer(): Answer {
    this.#requestedAtMs.push(performance.now())
    const [first, ...more] = this.#answers
    if (more.length > 0) this.#answers = more
    return first ?? { status: 200, headers: {}, body: {} }
  }
}

function checkResult(got: CallResult, expected: ExpectedResult): void {
  if ('error' in expected) {
    const text = got.error?.toLowerCase() ?? 'no error'
    if (!text.includes(expected.error))
      throw new Error(`The error of the call is "${text}", without "${expected.error}"`)
    return
  }
  if (got.error !== undefined) throw new Error(`The call failed: ${got.error}`)
  if ('id' in expected) same('The id that the call returned', got.value?.id, expected.id)
}

function fieldsOf(report: RecordedReport): Record<string, unknown> {
  const { arrivedAtMs: _, connection_id, executing_at, ended_at, idempotency_key, ...fields } = report
  same('The connection of a report', connection_id, CONNECTION)
  // The schema fills in undefined for absent fields.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** A report before a call that is delayed is replaced by the report after it. */
function sameReports(got: readonly Record<string, unknown>[], expected: readonly Record<string, unknown>[]): void {
  const ends = (reports: typeof got) => reports.filter(({ state }) => state !== 'executing')
  const isMerged = got.length < expected.length && isDeepStrictEqual(ends(got), ends(expected))
  if (isMerged && ends(got).length > 0) throw new Late('A report before a call was replaced by the report after it')
  same('The reports', got, expected)
}

/** A reason may be in the words of the library. */
function withAnyReason(expected: readonly Record<string, unknown>[]) {
  return (report: Record<string, unknown>, at: number) =>
    expected[at]?.reason === ANY && typeof report.reason === 'string' ? { ...report, reason: ANY } : report
}

function checkTimes({ state, executing_at, ended_at }: RecordedReport): void {
  if (executing_at === undefined) throw new Error(`A report of the state ${state} has no executing_at`)
  const hasEnd = state !== 'executing' && state !== 'awaiting_review'
  same(`ended_at of the state ${state} is given`, ended_at !== undefined, hasEnd)
  if (ended_at !== undefined && Date.parse(ended_at) < Date.parse(executing_at)) {
    throw new Error('An operation ended before it began')
  }
}

/** Waits until the end of a call is in the spool, which is written a little later. */
async function checkPrivate(folder: string): Promise<void> {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  const files = () => readdirSync(folder).map(file => join(folder, file))
  await until('the spool', () => files().some(file => readFileSync(file, 'utf8').includes('completed')))
  same('The mode of the folder of the spool', mode(folder), '700')
  for (const file of files()) same('The mode of a file of the spool', mode(file), '600')
}

function pick(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map(name => [name, from[name]]))
}

function same(name: string, got: unknown, expected: unknown): void {
  if (isDeepStrictEqual(got, expected)) return
  throw new Error(`${name}: ${JSON.stringify(got)}\n    expected: ${JSON.stringify(expected)}`)
}
