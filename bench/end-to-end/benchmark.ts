/**
 * Measures the whole product at an even rate of events: how soon an explained event has its verdict, and how soon an unexplained event
 * arrives as an alert, with the real minute in between.
 */
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { SERVICES } from '../../scripts/start/service-environment.ts'
import { openInstallation } from '../../test/setup/installation/installation.ts'
import { type SentRefund, startLoad, UNEXPLAINED_ONE_IN } from '../../test/setup/installation/load.ts'
import { verify } from '../../test/setup/installation/verify.ts'
import { cpuMsOf } from '../../test/setup/metrics.ts'
import { openInspector } from '../../test/setup/product-inspector.ts'
import type { Benchmark, Target } from '../frame/benchmark.ts'
import { ALERT, readTimes, TIME_READINGS, VERDICT } from './readings.ts'
import { watchVerdicts } from './verdicts.ts'

const PER_SECOND = 500
/** Longer than the minute of the second look, so that second looks are made during all of the measured time. */
const WARM_UP_MS = 75_000
const MEASURED_MS = 60_000
const MINUTE_MS = 60_000
const IDLE_WITHIN_MS = 180_000
/** Software reports an operation before it asks the provider for the refund. */
const REPORTED_BEFORE_MS = 1_000
/** Ten unexplained actions of one connection within five minutes are a storm. Each connection gets one in this time. */
const UNEXPLAINED_EVERY_S = 30
const RATE = 'accepted events'
const cpuReading = (service: string) => `processor time of ${service} for one`

const target = (reading: string, value: number): Target => ({ reading, of: 'product', is: 'at most', value })

export const endToEndBenchmark: Benchmark = {
  name: 'end-to-end',
  about: `how soon the whole product explains an event and delivers an alert, at ${PER_SECOND} events a second (--rate)`,
  async open({ stack, folder, log, rate: perSecond = PER_SECOND }) {
    const product = await startProduct({
      dataDir: join(folder, 'end-to-end'),
      env: process.env,
      stackUrls: stack,
      topicPrefix: `end-to-end-${Date.now().toString(36)}.`,
    })
    const connections = Math.max(10, Math.ceil((perSecond / UNEXPLAINED_ONE_IN) * UNEXPLAINED_EVERY_S))
    const installation = await openInstallation(product, { twins: false, connections })
    const inspector = await openInspector(product)
    const earlier: SentRefund[] = []
    let round = 0

    async function measure() {
      const verdicts = watchVerdicts(installation.database)
      const load = startLoad({
        name: `round${++round}x`,
        perSecond,
        connections: installation.connections,
        targets: () => [product.urls.ingress],
        report: installation.report,
        reportedBeforeMs: REPORTED_BEFORE_MS,
      })
      await sleep(WARM_UP_MS)
      const from = await readMark(product)
      await sleep(MEASURED_MS)
      const to = await readMark(product)
      log.step('load').done(JSON.stringify({ load_average: loadavg()[0], failed_tries: load.failures }))
      await load.stop()
      await sleep(MINUTE_MS)
      await inspector.untilIdle(IDLE_WITHIN_MS)
      await verdicts.stop()
      earlier.push(...load.sent)
      const deliveries = installation.receiver.deliveries()
      const { differences } = await verify(installation.database, earlier, deliveries)
      if (differences.length > 0) throw new Error(`A promise is broken: ${differences.join(', ')}`)
      const measured = load.sent.filter(({ sentAtMs }) => sentAtMs >= from.atMs && sentAtMs < to.atMs)
      const cpu = SERVICES.map((service, index) => {
        const usedMs = to.cpuMs[index]! - from.cpuMs[index]!
        return [cpuReading(service), (usedMs / measured.length) * 1_000]
      })
      return {
        [RATE]: (measured.length / (to.atMs - from.atMs)) * 1_000,
        ...readTimes(measured, verdicts.explained, deliveries),
        ...Object.fromEntries(cpu),
      }
    }

    return {
      comparisons: [
        {
          name: `End to end at ${perSecond} events a second`,
          readings: {
            [RATE]: '/s',
            ...TIME_READINGS,
            ...Object.fromEntries(SERVICES.map(service => [cpuReading(service), 'µs' as const])),
          },
          contenders: [{ name: 'product', measure }],
          targets: [target(`${VERDICT}, p99`, 150), target(`${ALERT}, p99`, 60_500)],
        },
      ],
      async stop() {
        await inspector.stop()
        await installation.stop()
        await product.stop()
      },
    }
  },
}

/** The time, and the processor time that each service has used so far. */
async function readMark({ children }: Product) {
  const cpuMs = await Promise.all(SERVICES.map(service => cpuMsOf(children[service].opsUrl)))
  return { atMs: Date.now(), cpuMs }
}
