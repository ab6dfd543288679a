/** Measures how many events one ingress process receives per second, compared with servers that do less. */
import { join } from 'node:path'
import type { ConnectionDocument } from '@backstop/contracts'
import { connectionDocument, KEY_RING } from '../../services/ingress/test/connection-documents.ts'
import { connectionsOfRefunds } from '../../test/setup/refunds.ts'
import { openServiceAlone } from '../../test/setup/service-alone.ts'
import type { Benchmark, Comparison, Contender } from '../frame/benchmark.ts'
import { startChild } from '../frame/children.ts'
import { type LoadGenerator, type LoadOrder, startLoadGenerator } from './load.ts'
import { countMessages } from './messages.ts'

const SECRET = 'whsec_secret-of-the-benchmark'
const TOPIC = 'inbound.processor'
const SOCKETS = 64
const WARM_UP_ANSWERS = 40_000
const MEASURE_MS = 8_000
const READINGS = { answers: '/s', 'answer, p50': 'ms', 'answer, p99': 'ms', 'processor time for one': 'µs' } as const

export const ingressBenchmark: Benchmark = {
  name: 'ingress',
  about: `how many signed events one ingress process makes durable, from ${SOCKETS} connections`,
  async open({ stack, folder }) {
    const env = {
      SECRET_KEYS: KEY_RING,
      // The load comes from few billing connections.
      ...{ RATE_LIMIT_PER_S: '1000000', RATE_LIMIT_BURST: '10000000' },
      // Beside other work the process may wait for a core. Without this it would then answer 503.
      SHED_LAG_MS: '10000',
    }
    const ingress = await openServiceAlone('ingress', { name: 'bench-ingress', stack, folder, env })
    const connections = connectionsOfRefunds().map(({ _id, project_id }) =>
      connectionDocument(_id, 'processor', [SECRET], { project_id }),
    )
    await ingress.mongo.db.collection<ConnectionDocument>('connections').insertMany(connections)
    const load = startLoadGenerator(folder)
    const topic = ingress.topicPrefix + TOPIC
    const stored = () => countMessages(stack.kafka, topic)

    const startIngress = async (): Promise<Server> => {
      await ingress.start()
      return { port: Number(new URL(ingress.url).port), cpuMs: ingress.cpuMs, stop: ingress.stop }
    }
    const startReference = (name: string, more: Record<string, string>) => async (): Promise<Server> => {
      const env = { SECRET, ...more }
      const child = startChild(new URL('reference-main.ts', import.meta.url), env, join(folder, `${name}.log`))
      return { port: await child.next<number>(20_000), cpuMs: child.cpuMs, stop: child.stop }
    }
    const startBare = startReference('bare', {})
    const startNaive = startReference('naive', { BROKERS: stack.kafka, TOPIC: topic })
    const accepted = measureWith(load, true)
    const refused = measureWith(load, false)
    const comparisons: Comparison[] = [
      {
        name: 'Accepted events',
        readings: READINGS,
        contenders: [
          { name: 'ingress', measure: () => accepted(startIngress, stored) },
          { name: 'bare server', measure: () => accepted(startBare) },
          { name: 'one send per request', measure: () => accepted(startNaive, stored) },
        ],
        targets: [
          { reading: 'answers', of: 'ingress', is: 'at least', value: 14_000 },
          { reading: 'answers', of: 'ingress', against: 'bare server', is: 'at least', value: 0.5 },
          { reading: 'answer, p99', of: 'ingress', is: 'at most', value: 20 },
          { reading: 'processor time for one', of: 'ingress', is: 'at most', value: 65 },
        ],
      },
      {
        name: 'Refused events',
        readings: READINGS,
        contenders: [
          { name: 'ingress', measure: () => refused(startIngress) },
          { name: 'bare server', measure: () => refused(startBare) },
        ],
        targets: [{ reading: 'answers', of: 'ingress', against: 'bare server', is: 'at least', value: 0.9 }],
      },
    ]
    return {
      comparisons,
      async stop() {
        await load.stop()
        await ingress.close()
      },
    }
  },
}

interface Server {
  readonly port: number
  cpuMs(): Promise<number>
  stop(): Promise<void>
}

/**
 * Measures a freshly started server.
 * @param stored counts the messages in Kafka, for a server that stores events
 */
function measureWith(load: LoadGenerator, isAuthentic: boolean) {
  const order = { sockets: SOCKETS, secret: SECRET, isAuthentic, warmUpAnswers: WARM_UP_ANSWERS, measureMs: MEASURE_MS }
  const expectedStatus = isAuthentic ? '200' : '400'
  return async (
    start: () => Promise<Server>,
    stored?: () => Promise<number>,
  ): Promise<Awaited<ReturnType<Contender['measure']>>> => {
    const before = await stored?.()
    const server = await start()
    const result = await load.run({ ...order, port: server.port } satisfies LoadOrder, server.cpuMs)
    await server.stop()
    const { statuses, perSecond, p50Ms, p99Ms, cpuUsPerAnswer } = result
    const { [expectedStatus]: answered = 0, ...others } = statuses
    if (Object.keys(others).length > 0) throw new Error(`Unexpected answers: ${JSON.stringify(statuses)}`)
    const more = stored === undefined ? answered : (await stored()) - before!
    if (more < answered) throw new Error(`${answered} events were acknowledged, and only ${more} are in Kafka`)
    return {
      answers: perSecond,
      'answer, p50': p50Ms,
      'answer, p99': p99Ms,
      'processor time for one': cpuUsPerAnswer,
    }
  }
}
