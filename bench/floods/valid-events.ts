/**
 * A provider that sends authentic events at an even rate and, like real providers, repeats events that were not
 * accepted.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CreatedConnection } from '@backstop/contracts'
import { SIGNERS } from '@backstop/providers/test'
import { eventOf, makeRefunds } from '../../test/setup/refunds.ts'

const REPEAT_AFTER_MS = 500
const TRIES = 40
const TICK_MS = 5

export interface SentEvents {
  /** Ids of the events. Each was eventually answered with 200. */
  readonly ids: readonly string[]
  /** Times from the first attempt to the answer 200, in milliseconds. */
  readonly latenciesMs: readonly number[]
  /** Number of failed attempts, by status or error code. */
  readonly failures: Readonly<Record<string, number>>
}

/** @param name distinguishes these events from all others: letters and digits */
export async function sendValidEvents(
  connection: CreatedConnection,
  name: string,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<SentEvents> {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  const refunds = makeRefunds(name, perSecond * seconds)
  const failures: Record<string, number> = {}
  const startedAtMs = performance.now()
  const sends: Promise<number>[] = []
  const { header, sign } = SIGNERS.processor
  for (const refund of refunds) {
    const dueInMs = (sends.length * 1_000) / perSecond - (performance.now() - startedAtMs)
    if (dueInMs > TICK_MS) await sleep(dueInMs)
    const body = Buffer.from(JSON.stringify(eventOf(refund).body))
    sends.push(sendUntilReceived(body))
  }
  const latenciesMs = await Promise.all(sends)
  agent.destroy()
  return { ids: refunds.map(({ id }) => `evt_${id}`), latenciesMs, failures }

  async function sendUntilReceived(body: Buffer): Promise<number> {
    const from = performance.now()
    for (let tries = 0; tries < TRIES; tries++) {
      const signature = sign(body, [connection.signing_secret ?? ''], Date.now())
      const outcome = await post(connection.inbound_url, body, { [header]: signature }, agent)
      if (outcome === '200') return performance.now() - from
      failures[outcome] = (failures[outcome] ?? 0) + 1
      await sleep(REPEAT_AFTER_MS)
    }
    throw new Error(`A valid event was never received: ${JSON.stringify(failures)}`)
  }
}

function post(url: string, body: Buffer, headers: Record<string, string>, agent: Agent): Promise<string> {
  return new Promise(resolve => {
    const outgoing = request(url, { method: 'POST', headers, agent, timeout: 10_000 }, response => {
      response.resume().on('end', () => resolve(String(response.statusCode)))
      response.on('error', () => resolve('broken_off'))
    })
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('No answer'), { code: 'no_answer' })))
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    outgoing.end(body)
  })
}
