/** Reports operations as software does: each is requested, executed and completed, with one call for each. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Agent, request } from 'undici'

/** The installation to which operations are reported. */
export interface Target {
  /** Its connections stay open from one load to the next. */
  readonly agent: Agent
  readonly url: string
  readonly key: string
  readonly connectionId: string
}

/** The calls that were answered. */
export type ReportLoad = Promise<{ readonly timesMs: readonly number[]; readonly tookMs: number }>

const STEPS = ['executing', 'completed'] as const
let reported = 0

/** Reports from several connections, of which each has one call in flight. */
export async function reportInTurn(target: Target, load: { sockets: number; forMs: number }): ReportLoad {
  const timesMs: number[] = []
  const beganMs = performance.now()
  const isOver = () => performance.now() - beganMs >= load.forMs
  const report = async () => {
    while (!isOver()) for await (const tookMs of reportOne(target)) timesMs.push(tookMs)
  }
  await Promise.all(Array.from({ length: load.sockets }, report))
  return { timesMs, tookMs: performance.now() - beganMs }
}

const TICK_MS = 5
const CALLS_OF_ONE = 1 + STEPS.length

/** Reports at an even rate, without waiting for the answers about other operations. */
export async function reportEvenly(target: Target, load: { perSecond: number; seconds: number }): ReportLoad {
  const timesMs: number[] = []
  const beganMs = performance.now()
  const operations = (load.perSecond * load.seconds) / CALLS_OF_ONE
  const running: Promise<void>[] = []
  const report = async () => {
    for await (const tookMs of reportOne(target)) timesMs.push(tookMs)
  }
  while (running.length < operations) {
    const dueInMs = (running.length * CALLS_OF_ONE * 1_000) / load.perSecond - (performance.now() - beganMs)
    if (dueInMs > TICK_MS) await sleep(dueInMs)
    running.push(report())
  }
  await Promise.all(running)
  return { timesMs, tookMs: performance.now() - beganMs }
}

/** Makes the calls about one operation, one after the other. Yields the time of each answer in milliseconds. */
async function* reportOne({ agent, url, key, connectionId }: Target): AsyncGenerator<number> {
  const name = `bench_${process.pid}_${++reported}`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const call = async (path: string, content: object) => {
    const from = performance.now()
    const body = JSON.stringify(content)
    const answer = await request(`${url}${path}`, { method: 'POST', dispatcher: agent, headers, body })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${path} was answered ${answer.statusCode}: ${text.slice(0, 500)}`)
    return { tookMs: performance.now() - from, text }
  }
  const created = await call('/v1/operations', {
    connection_id: connectionId,
    kind: 'refund',
    subject: `pi_${name}`,
    amount: 500,
    currency: 'eur',
    state: 'requested',
    idempotency_key: name,
  })
  yield created.tookMs
  const { operation_id } = JSON.parse(created.text) as { operation_id: string }
  for (const to of STEPS) {
    const ended = to === 'completed' ? { provider_ref: `re_${name}` } : {}
    yield (await call(`/v1/operations/${operation_id}/transitions`, { to, ...ended })).tookMs
  }
}
