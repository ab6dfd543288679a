/** Providers that post events at an even rate, and post them again if they are not accepted. */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CreatedConnection } from '@backstop/contracts'
import { SIGNERS } from '@backstop/providers/test'
import { eventOf, makeRefunds, type Refund } from '../../test/setup/refunds.ts'

/** One refund in fifty is unexplained. */
const UNEXPLAINED_ONE_IN = 50
const TICK_MS = 10
const REPEAT_AFTER_MS = 500

export interface SentRefund extends Refund {
  readonly sentAtMs: number
}

export interface Load {
  readonly sent: readonly SentRefund[]
  /** Milliseconds from the first attempt to the 200 of each event, in the order of the answers. */
  readonly latenciesMs: readonly number[]
  /** Failed attempts, by status or error. All of them were repeated. */
  readonly failures: Readonly<Record<string, number>>
  /** Stops. Resolves when every event was accepted. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly perSecond: number
  readonly connections: readonly CreatedConnection[]
  /** The base URLs of the processes of ingress that get requests now, as a load balancer knows them. */
  targets(): readonly string[]
  /** Called with the refunds whose operations are reported, shortly before their events are sent. */
  report(refunds: readonly Refund[]): Promise<void>
}

export function startLoad({ perSecond, connections, targets, report }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const sent: SentRefund[] = []
  const latenciesMs: number[] = []
  const failures: Record<string, number> = {}
  const pending = new Set<Promise<void>>()
  const { header, sign } = SIGNERS.processor
  let isStopped = false

  async function send(refund: SentRefund, index: number): Promise<void> {
    const connection = connections[index % connections.length] as CreatedConnection
    const path = new URL(connection.inbound_url).pathname
    const body = Buffer.from(JSON.stringify(eventOf(refund).body))
    const from = performance.now()
    for (let attempt = index; ; attempt += 1) {
      const bases = targets()
      const base = bases[attempt % bases.length]
      const signature = sign(body, [connection.signing_secret ?? ''], Date.now())
      const outcome = await post(`${base}${path}`, body, { [header]: signature }, agent)
      if (outcome === '200') break
      failures[outcome] = (failures[outcome] ?? 0) + 1
      await sleep(REPEAT_AFTER_MS)
    }
    latenciesMs.push(performance.now() - from)
  }

  /** Like the ledger, whose outbox publishes an operation until Kafka has it. */
  async function reportUntilAccepted(refunds: readonly Refund[]): Promise<void> {
    for (;;) {
      try {
        await report(refunds)
        return
      } catch {
        failures.operations = (failures.operations ?? 0) + 1
        await sleep(REPEAT_AFTER_MS)
      }
    }
  }

  async function run(): Promise<void> {
    const startedAt = performance.now()
    let [sample] = makeRefunds('x', 1) as [Refund]
    for (let count = 0; !isStopped; ) {
      const due = Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond)
      const refunds: SentRefund[] = []
      sample = { ...sample, atMs: Math.floor(Date.now() / 1_000) * 1_000 }
      for (; count < due; count += 1) {
        const { connection_id, project_id } = connections[count % connections.length] as CreatedConnection
        const id = `roll${String(count).padStart(20, '0')}`
        const isExplained = count % UNEXPLAINED_ONE_IN !== 0
        refunds.push({
          ...sample,
          id,
          projectId: project_id,
          connectionId: connection_id,
          isExplained,
          sentAtMs: Date.now(),
        })
      }
      sent.push(...refunds)
      const reported = reportUntilAccepted(refunds.filter(({ isExplained }) => isExplained))
      const first = count - refunds.length
      const posts = refunds.map((refund, index) => send(refund, first + index))
      for (const one of [reported, ...posts]) {
        const counted = one.finally(() => pending.delete(counted))
        pending.add(counted)
      }
      await sleep(TICK_MS)
    }
  }

  const running = run()
  return {
    sent,
    latenciesMs,
    failures,
    async stop() {
      isStopped = true
      await running
      await Promise.all(pending)
      agent.destroy()
    },
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
