/** Providers that post events at an even rate, however long the answers take, and post them again if they are not accepted. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CreatedConnection } from '@backstop/contracts'
import { createEventPoster, REPEAT_AFTER_MS } from '../event-poster.ts'
import { makeRefunds, type Refund } from '../refunds.ts'

/** One refund in fifty is unexplained. */
export const UNEXPLAINED_ONE_IN = 50
const TICK_MS = 10
const SOCKETS = 100

export interface SentRefund extends Refund {
  /** The time of the first attempt, in milliseconds since the epoch. */
  readonly sentAtMs: number
  /** The time of the answer 200. */
  readonly acknowledgedAtMs?: number
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
  /** Letters and digits, unique among the loads of an installation. */
  readonly name: string
  readonly perSecond: number
  /** The number of events after which no more are made; unlimited by default. */
  readonly most?: number
  /** The number of events without an answer at which no more are made, so that a slow machine gets fewer a second; unlimited by default. */
  readonly mostPending?: number
  readonly connections: readonly CreatedConnection[]
  /** The base URLs of the processes of ingress that get requests now, as a load balancer knows them. */
  targets(): readonly string[]
  /** Called with the refunds whose operations are reported. */
  report(refunds: readonly Refund[]): Promise<void>
  /** Milliseconds from the report of an operation to the first attempt to post its event; 0 by default. */
  readonly reportedBeforeMs?: number
  /** Changes id, amount or customer of a refund, for ids that do not resemble each other; no change by default. */
  readonly vary?: (refund: Refund) => Refund
}

export function startLoad(options: LoadOptions): Load {
  const { perSecond, connections, targets, report, reportedBeforeMs = 0 } = options
  const { most = Number.POSITIVE_INFINITY, mostPending = Number.POSITIVE_INFINITY } = options
  const poster = createEventPoster({ sockets: SOCKETS })
  const sent: SentRefund[] = []
  const latenciesMs: number[] = []
  const failures: Record<string, number> = {}
  const pending = new Set<Promise<void>>()
  let isStopped = false

  async function send(refund: Refund, index: number): Promise<void> {
    if (reportedBeforeMs > 0) await sleep(reportedBeforeMs)
    const connection = connectionFor(connections, index)
    const path = new URL(connection.inbound_url).pathname
    const posted: { -readonly [K in keyof SentRefund]: SentRefund[K] } = { ...refund, sentAtMs: Date.now() }
    sent.push(posted)
    latenciesMs.push(
      await poster.post(refund, connection, attempt => {
        const bases = targets()
        return `${bases[(index + attempt) % bases.length]}${path}`
      }),
    )
    posted.acknowledgedAtMs = Date.now()
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
    for (let count = 0; !isStopped; ) {
      const wanted = Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond)
      const due = Math.max(count, Math.min(most, latenciesMs.length + mostPending, wanted))
      const refunds = makeDue(options, count, due)
      const reported = reportUntilAccepted(refunds.filter(({ isExplained }) => isExplained))
      const first = count
      const posts = refunds.map((refund, index) => send(refund, first + index))
      count = due
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
    get failures() {
      return { ...poster.failures, ...failures }
    },
    async stop() {
      isStopped = true
      await running
      await Promise.all(pending)
      poster.stop()
    },
  }
}

const isExplainedAt = (index: number) => index % UNEXPLAINED_ONE_IN !== 0

/** The connections take turns, and separate turns for unexplained refunds, so that each gets as many of both as the others. */
function connectionFor(connections: readonly CreatedConnection[], index: number): CreatedConnection {
  const turn = isExplainedAt(index) ? index : index / UNEXPLAINED_ONE_IN
  return connections[turn % connections.length] as CreatedConnection
}

function makeDue({ name, connections, vary = refund => refund }: LoadOptions, from: number, to: number): Refund[] {
  const [sample] = makeRefunds('x', 1) as [Refund]
  return Array.from({ length: to - from }, (_, offset) => {
    const index = from + offset
    const { connection_id, project_id } = connectionFor(connections, index)
    return vary({
      ...sample,
      id: `${name}${String(index).padStart(20, '0')}`,
      projectId: project_id,
      connectionId: connection_id,
      isExplained: isExplainedAt(index),
    })
  })
}
