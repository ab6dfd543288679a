/** Measures ingress at three times the load that it can take: what it accepts, how soon it refuses the rest, and how soon it recovers. */
import type { Benchmark } from '../frame/benchmark.ts'
import { openIngressAlone } from '../ingress/ingress-alone.ts'
import { startLoadGenerator } from '../ingress/load.ts'
import { LOAD, SECRET, type Server } from '../ingress/measure.ts'
import { type OpenLoadReport, startOpenLoadGenerator } from './open-load.ts'
import { leastAcceptedInASecond, recoveryMs } from './phases.ts'

const EVENTS = 4_096
const TIMES_CAPACITY = 3
const OVERLOAD_MS = 60_000
/** Rate before and after the overload, as a share of the capacity, and how long it is kept. */
const CALM_SHARE = 0.5
const BEFORE_MS = 10_000
const AFTER_MS = 10_000
/** Sockets of the open load. With fewer, the two processes take turns in handling all of them, and each idles meanwhile. */
const SOCKETS = 3_000
const CAPACITY = 'capacity'
const OFFERED = 'offered'
const ACCEPTED = 'accepted'
const LEAST = 'accepted in the worst second'
const REFUSED = 'refused'
const WAITED = 'found no free socket'
const UNANSWERED = 'without an answer'
const RECOVERY = 'recovery'
const BUSY = 'processor time of ingress in a second'

export const overloadBenchmark: Benchmark = {
  name: 'overload',
  about: `what one ingress process does at ${TIMES_CAPACITY} times its capacity`,
  async open({ stack, folder, log }) {
    const ingress = await openIngressAlone(
      'bench-overload',
      { stack, folder },
      { MAX_SOCKETS_PER_ADDRESS: '5000', SHED_WAIT_MS: '100' },
    )
    const load = startLoadGenerator(folder)
    const openLoad = startOpenLoadGenerator(folder)
    const requests = { events: EVENTS, secret: SECRET, isAuthentic: true } as const

    async function overload(server: Server, capacity: number) {
      const calm = { perSecond: Math.round(capacity * CALM_SHARE) }
      const phases = [
        { ...calm, lengthMs: BEFORE_MS },
        { perSecond: Math.round(capacity * TIMES_CAPACITY), lengthMs: OVERLOAD_MS },
        { ...calm, lengthMs: AFTER_MS },
      ]
      const cpuMs: Promise<number>[] = []
      const order = { requests, port: server.port, sockets: SOCKETS, phases }
      const report = await openLoad.run(order, () => void cpuMs.push(server.cpuMs()))
      const [, begin = 0, end = 0] = await Promise.all(cpuMs)
      return { ...report, busyMs: ((end - begin) / OVERLOAD_MS) * 1_000 }
    }

    async function measure() {
      const server = await ingress.start()
      try {
        const closed = await load.run({ ...LOAD, ...requests, port: server.port }, server.cpuMs)
        const { '200': answered = 0, ...others } = closed.statuses
        const refusedShare = Object.values(others).reduce((sum, count) => sum + count, 0) / answered
        if (refusedShare > 0.01) throw new Error(`Refused without overload: ${JSON.stringify(closed.statuses)}`)
        const capacity = closed.perSecond
        const report = await overload(server, capacity)
        const acknowledged = answered + report.accepted
        const stored = (await server.stored?.(acknowledged)) ?? 0
        const step = log.step('answers')
        step.done(
          JSON.stringify({
            capacity: closed.statuses,
            phases: report.outcomes.map(({ statuses }) => statuses),
            stored,
          }),
        )
        if (stored < acknowledged)
          throw new Error(`${acknowledged} events were acknowledged, and only ${stored} are stored`)
        return { [CAPACITY]: capacity, [BUSY]: report.busyMs, ...readingsOf(report) }
      } finally {
        await server.stop()
      }
    }

    return {
      comparisons: [
        {
          name: `${TIMES_CAPACITY} times the capacity for ${OVERLOAD_MS / 1_000} s`,
          readings: {
            [CAPACITY]: '/s',
            [OFFERED]: '/s',
            [ACCEPTED]: '/s',
            [LEAST]: '/s',
            [`${ACCEPTED}, p50`]: 'ms',
            [`${ACCEPTED}, p99`]: 'ms',
            [REFUSED]: '/s',
            [`${REFUSED}, p50`]: 'ms',
            [`${REFUSED}, p99`]: 'ms',
            [WAITED]: '/s',
            [UNANSWERED]: 'requests',
            [RECOVERY]: 'ms',
            [BUSY]: 'ms',
          },
          contenders: [{ name: 'ingress', measure }],
          targets: [
            { reading: `${ACCEPTED}, p99`, of: 'ingress', is: 'at most', value: 250 },
            { reading: `${REFUSED}, p99`, of: 'ingress', is: 'at most', value: 250 },
            { reading: UNANSWERED, of: 'ingress', is: 'at most', value: 0 },
            { reading: RECOVERY, of: 'ingress', is: 'at most', value: 2_000 },
          ],
        },
      ],
      async stop() {
        await Promise.all([load.stop(), openLoad.stop()])
        await ingress.close()
      },
    }
  },
}

function readingsOf({ outcomes }: OpenLoadReport): Record<string, number> {
  const [before, during, after] = outcomes
  if (before === undefined || during === undefined || after === undefined) throw new Error('A phase is missing')
  const { statuses, accepted, refused, windows, waitedForSocket } = during
  const perSecond = (count: number) => count / (OVERLOAD_MS / 1_000)
  const { '200': ok = 0, '503': busy = 0, none = 0, ...others } = statuses
  if (Object.keys(others).length > 0) throw new Error(`Unexpected answers: ${JSON.stringify(statuses)}`)
  return {
    [OFFERED]: perSecond(ok + busy + none),
    [ACCEPTED]: perSecond(ok),
    [LEAST]: leastAcceptedInASecond(windows),
    [`${ACCEPTED}, p50`]: accepted?.p50Ms ?? Number.POSITIVE_INFINITY,
    [`${ACCEPTED}, p99`]: accepted?.p99Ms ?? Number.POSITIVE_INFINITY,
    [REFUSED]: perSecond(busy),
    [`${REFUSED}, p50`]: refused?.p50Ms ?? 0,
    [`${REFUSED}, p99`]: refused?.p99Ms ?? 0,
    [WAITED]: perSecond(waitedForSocket),
    [UNANSWERED]: none,
    [RECOVERY]: recoveryMs(before.windows, after.windows),
  }
}
