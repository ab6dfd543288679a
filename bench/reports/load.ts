/** Reports operations as software does: each is requested, executed and completed, with one call for each. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Collection } from 'mongodb'
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

/** The reference: the writes of the same operations without the API, each with a command of its own. */
export async function writeInTurn(
  collection: Collection<{ _id: string; state: string }>,
  load: { sockets: number; forMs: number },
): ReportLoad {
  const timesMs: number[] = []
  const beganMs = performance.now()
  const timed = async (write: () => Promise<unknown>) => {
    const from = performance.now()
    await write()
    timesMs.push(performance.now() - from)
  }
  const write = async () => {
    while (performance.now() - beganMs < load.forMs) {
      const _id = `bench_${process.pid}_${++reported}`
      await timed(() => collection.insertOne({ _id, ...reportOf('con_bench', _id), state: 'requested' }))
      for (const state of STEPS) await timed(() => collection.updateOne({ _id }, { $set: { state } }))
    }
  }
  await Promise.all(Array.from({ length: load.sockets }, write))
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

/** Reports completed operations in batches, of which each sender has one in flight. Each report counts as a call that took as long as its batch. */
export async function reportInBatches(
  { agent, url, key, connectionId }: Target,
  load: { senders: number; items: number; forMs: number },
): ReportLoad {
  const timesMs: number[] = []
  const beganMs = performance.now()
  const send = async () => {
    while (performance.now() - beganMs < load.forMs) {
      const items = Array.from({ length: load.items }, () => {
        const name = `bench_${process.pid}_${++reported}`
        return { type: 'report', ...reportOf(connectionId, name), state: 'completed', provider_ref: `re_${name}` }
      })
      const from = performance.now()
      const text = await post({ agent, url, key }, '/v1/operations/batch', { items })
      const { results } = JSON.parse(text) as { results: { status: number }[] }
      const refused = results.find(({ status }) => status !== 201)
      if (refused !== undefined) throw new Error(`A report was refused: ${JSON.stringify(refused)}`)
      timesMs.push(...results.map(() => performance.now() - from))
    }
  }
  await Promise.all(Array.from({ length: load.senders }, send))
  return { timesMs, tookMs: performance.now() - beganMs }
}

function reportOf(connection_id: string, name: string) {
  return { connection_id, kind: 'refund', subject: `pi_${name}`, amount: 500, currency: 'eur', idempotency_key: name }
}

/** @returns the body of the answer. @throws Error if the call is refused */
async function post({ agent, url, key }: Omit<Target, 'connectionId'>, path: string, content: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify(content)
  const answer = await request(`${url}${path}`, { method: 'POST', dispatcher: agent, headers, body })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${path} was answered ${answer.statusCode}: ${text.slice(0, 500)}`)
  return text
}

/** Makes the calls about one operation, one after the other. Yields the time of each answer in milliseconds. */
async function* reportOne({ connectionId, ...target }: Target): AsyncGenerator<number> {
  const name = `bench_${process.pid}_${++reported}`
  const call = async (path: string, content: object) => {
    const from = performance.now()
    const text = await post(target, path, content)
    return { tookMs: performance.now() - from, text }
  }
  const created = await call('/v1/operations', { ...reportOf(connectionId, name), state: 'requested' })
  yield created.tookMs
  const { operation_id } = JSON.parse(created.text) as { operation_id: string }
  for (const to of STEPS) {
    const ended = to === 'completed' ? { provider_ref: `re_${name}` } : {}
    yield (await call(`/v1/operations/${operation_id}/transitions`, { to, ...ended })).tookMs
  }
}
