import { join } from 'node:path'
import { startChild } from '../frame/children.ts'
import type { RequestKind } from '../ingress/load.ts'
import type { Phase, PhaseOutcome } from './phases.ts'

/** One measurement of the open load: its phases, without a pause between them. */
export interface OpenLoadOrder {
  readonly requests: RequestKind
  readonly port: number
  readonly sockets: number
  readonly phases: readonly Phase[]
}

export interface OpenLoadReport {
  readonly outcomes: readonly PhaseOutcome[]
  /** Number of answers with 200 in all phases. */
  readonly accepted: number
}

export interface OpenLoadGenerator {
  /** @param onPhase called when a phase begins */
  run(order: OpenLoadOrder, onPhase: (index: number) => void): Promise<OpenLoadReport>
  stop(): Promise<void>
}

export type OpenLoadMessage =
  | { readonly kind: 'phase'; readonly index: number }
  | ({ readonly kind: 'done' } & OpenLoadReport)

/** For a late report: the last answers are awaited, and percentiles of millions of values are computed. */
const GRACE_MS = 60_000

/** Starts the generator as a process of its own. */
export function startOpenLoadGenerator(folder: string): OpenLoadGenerator {
  const child = startChild(new URL('open-load-main.ts', import.meta.url), {}, join(folder, 'open-load.log'))
  return {
    async run(order, onPhase) {
      child.send(order)
      const longestMs = Math.max(...order.phases.map(({ lengthMs }) => lengthMs))
      for (;;) {
        const message = await child.next<OpenLoadMessage>(longestMs + GRACE_MS)
        if (message.kind === 'done') return message
        onPhase(message.index)
      }
    },
    stop: () => child.stop(),
  }
}
