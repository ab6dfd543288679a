import type { Contender } from '../frame/benchmark.ts'
import type { LoadGenerator, LoadOrder } from './load.ts'

export const SECRET = 'whsec_secret-of-the-benchmark'
/** Keep-alive connections of the load generator. */
export const SOCKETS = 64
export const READINGS = {
  answers: '/s',
  'answer, p50': 'ms',
  'answer, p99': 'ms',
  'processor time for one': 'µs',
} as const

const WARM_UP_ANSWERS = 40_000
const MEASURE_MS = 8_000

/** A server under test that has just started. */
export interface Server {
  readonly port: number
  cpuMs(): Promise<number>
  /**
   * Counts the events that were stored since the start; absent for a server that stores none.
   * @param atLeast the number of acknowledged events. A server that stores them later gets some time
   */
  stored?(atLeast: number): Promise<number>
  stop(): Promise<void>
}

/** The load of one measurement. */
export const LOAD = { sockets: SOCKETS, secret: SECRET, warmUpAnswers: WARM_UP_ANSWERS, measureMs: MEASURE_MS } as const

type Requests = Pick<LoadOrder, 'events' | 'isAuthentic' | 'connections'> & Partial<Pick<LoadOrder, 'sockets'>>

/** Returns a function that measures a freshly started server. */
export function measureWith(load: LoadGenerator, requests: Requests) {
  const order = { ...LOAD, ...requests }
  const expectedStatus = requests.isAuthentic ? '200' : '400'
  return async (start: () => Promise<Server>): ReturnType<Contender['measure']> => {
    const server = await start()
    try {
      const result = await load.run({ ...order, port: server.port }, server.cpuMs)
      const { statuses, perSecond, p50Ms, p99Ms, cpuUsPerAnswer } = result
      const { [expectedStatus]: answered = 0, ...others } = statuses
      if (Object.keys(others).length > 0) throw new Error(`Unexpected answers: ${JSON.stringify(statuses)}`)
      const stored = (await server.stored?.(answered)) ?? answered
      if (stored < answered) throw new Error(`${answered} events were acknowledged, and only ${stored} are stored`)
      return {
        answers: perSecond,
        'answer, p50': p50Ms,
        'answer, p99': p99Ms,
        'processor time for one': cpuUsPerAnswer,
      }
    } finally {
      await server.stop()
    }
  }
}
