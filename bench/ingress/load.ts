import { join } from 'node:path'
import { type BenchChild, startChild } from '../frame/children.ts'

/** The requests of a measurement. */
export interface RequestKind {
  /** Number of different events. They are posted in turn, again and again. */
  readonly events: number
  /** The signing secret of every event. */
  readonly secret: string
  /** False for requests with a wrong signature, which are refused. */
  readonly isAuthentic: boolean
  /** The number of billing connections, of which each has a turn; 20 by default. */
  readonly connections?: number
}

/** One measurement of the load generator. */
export interface LoadOrder extends RequestKind {
  readonly port: number
  /** Keep-alive connections. Each has one request in flight. */
  readonly sockets: number
  /** Number of answers before the measurement, because code is compiled while it runs. */
  readonly warmUpAnswers: number
  readonly measureMs: number
}

interface LoadResult {
  /** Answers per second, without the warm-up. */
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Number of answers in the measured time. */
  readonly answers: number
  /** Number of answers by status, with the warm-up. */
  readonly statuses: Readonly<Record<string, number>>
}

export type LoadReport = { readonly kind: 'warm' } | ({ readonly kind: 'done' } & LoadResult)

export interface LoadGenerator {
  /** Puts a server under load. @param cpuMs the processor time that the server has used so far */
  run(order: LoadOrder, cpuMs: () => Promise<number>): Promise<LoadResult & { readonly cpuUsPerAnswer: number }>
  stop(): Promise<void>
}

/** Time limit of a warm-up, and of a result that is late. */
const WARM_UP_WITHIN_MS = 120_000
const GRACE_MS = 20_000

/** Starts the load generator as a process of its own, so that its work does not count as the server's. */
export function startLoadGenerator(folder: string): LoadGenerator {
  const child: BenchChild = startChild(new URL('load-main.ts', import.meta.url), {}, join(folder, 'load.log'))
  return {
    async run(order, cpuMs) {
      child.send(order)
      await child.next<LoadReport>(WARM_UP_WITHIN_MS)
      const before = await cpuMs()
      const result = await child.next<LoadReport & { kind: 'done' }>(order.measureMs + GRACE_MS)
      const usedMs = (await cpuMs()) - before
      return { ...result, cpuUsPerAnswer: (usedMs * 1_000) / result.answers }
    },
    stop: () => child.stop(),
  }
}
