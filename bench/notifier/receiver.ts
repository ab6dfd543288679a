import { join } from 'node:path'
import { startChild } from '../frame/children.ts'

export interface ExpectedRequests {
  /** Number of requests to wait for. */
  readonly count: number
  /**
   * Number of requests at the start that are not counted, because code is not yet compiled and connections are not yet
   * open.
   */
  readonly warmUp: number
  /** True to record the time from the alert to each request. */
  readonly readsBodies: boolean
}

interface ReceivedRequests {
  /** Time from the last request of the warm-up to the last request, in milliseconds. */
  readonly tookMs: number
  /** Times from alert to request after the warm-up, in milliseconds; empty unless bodies are read. */
  readonly latenciesMs: readonly number[]
}

/** The customers' endpoints. */
export interface BenchReceiver {
  readonly url: string
  /** Starts counting. */
  expect(expectation: ExpectedRequests): Promise<void>
  /** Resolves when the warm-up is over. */
  warmedUp(withinMs: number): Promise<void>
  /** Resolves when all expected requests have arrived, after `warmedUp`. */
  received(withinMs: number): Promise<ReceivedRequests>
  stop(): Promise<void>
}

export async function startBenchReceiver(folder: string): Promise<BenchReceiver> {
  const child = startChild(new URL('receiver-main.ts', import.meta.url), {}, join(folder, 'receiver.log'))
  const port = await child.next<number>(20_000)
  return {
    url: `http://127.0.0.1:${port}`,
    async expect(expectation) {
      child.send(expectation)
      await child.next<'ready'>(10_000)
    },
    async warmedUp(withinMs) {
      await child.next<'warm'>(withinMs)
    },
    received: withinMs => child.next<ReceivedRequests>(withinMs),
    stop: () => child.stop(),
  }
}
