import { type BenchChild, startChild } from '../frame/children.ts'

/** The number of requests that the attacker sent, and their results. */
export interface AttackCounts {
  garbage: number
  /** Answers to invalid requests, by status. */
  readonly answers: Record<string, number>
  dialled: number
  /** Number of slow clients' sockets that ingress closed. */
  droppedSockets: number
  openSockets: number
}

export interface Attack {
  /** The inbound URL of a connection. */
  readonly url: string
  readonly garbagePerSecond: number
  readonly slowSockets: number
}

export interface Attacker {
  counts(): Promise<AttackCounts>
  stop(): Promise<void>
}

/** Starts the attacker. Resolves when every slow client has connected. */
export async function startAttacker(attack: Attack, logPath: string): Promise<Attacker> {
  const child: BenchChild = startChild(
    new URL('attacker-main.ts', import.meta.url),
    {
      FLOOD_URL: attack.url,
      FLOOD_GARBAGE_PER_S: String(attack.garbagePerSecond),
      FLOOD_SLOW_SOCKETS: String(attack.slowSockets),
    },
    logPath,
  )
  await child.next<'ready'>(60_000)
  return {
    async counts() {
      child.send({})
      return child.next<AttackCounts>(10_000)
    },
    stop: () => child.stop(),
  }
}
