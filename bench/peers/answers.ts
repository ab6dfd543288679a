import { setTimeout as pause } from 'node:timers/promises'
import { stopPrograms } from './programs.ts'

/** The questions of the benchmark to the script of a peer. An empty one asks for the processor time, as in every benchmark. */
export interface Question {
  /** Asks for the number of stored events, after this many are stored or the time is over. */
  readonly atLeast?: number
}

export interface PeerProcess {
  readonly port: number
  cpuMs(): number
  /** The number of events that are stored now. */
  stored(): Promise<number>
}

/** Time for events that a peer acknowledges before it stores them in its database. */
export const STORED_WITHIN_MS = 120_000
const POLL_MS = 200
const CLOSE_WITHIN_MS = 500

/** Sends the port to the benchmark, and answers its questions. */
export function answerBenchmark({ port, cpuMs, stored }: PeerProcess): void {
  process.channel?.ref()
  process.on('message', ({ atLeast }: Question) => {
    if (atLeast === undefined) process.send?.(cpuMs())
    else void untilStored(atLeast).then(count => process.send?.(count))
  })
  process.send?.(port)

  async function untilStored(atLeast: number): Promise<number> {
    const deadline = performance.now() + STORED_WITHIN_MS
    let count = await stored()
    while (count < atLeast && performance.now() < deadline) {
      await pause(POLL_MS)
      count = await stored()
    }
    return count
  }
}

/**
 * Stops this script and its programs when the benchmark stops it. Call it before the first start.
 * @param close closes connections to the programs, in a limited time
 */
export function stopWithBenchmark(close: () => Promise<unknown>): void {
  process.once('SIGTERM', async () => {
    await Promise.race([close(), pause(CLOSE_WITHIN_MS)])
    await stopPrograms()
    process.exit(0)
  })
}
