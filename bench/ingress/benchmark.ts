/** Measures how many events one ingress process receives per second, compared with servers that do less. */
import { join } from 'node:path'
import type { Benchmark, Comparison } from '../frame/benchmark.ts'
import { startChild } from '../frame/children.ts'
import { openIngressAlone } from './ingress-alone.ts'
import { startLoadGenerator } from './load.ts'
import { measureWith, READINGS, SECRET, type Server, SOCKETS } from './measure.ts'
import { countMessages } from './messages.ts'

/** Number of different events. They are posted again and again, as ingress does not look for repeats. */
const EVENTS = 4_096

export const ingressBenchmark: Benchmark = {
  name: 'ingress',
  about: `how many signed events one ingress process makes durable, from ${SOCKETS} connections`,
  async open({ stack, folder }) {
    const ingress = await openIngressAlone('bench-ingress', { stack, folder })
    const load = startLoadGenerator(folder)

    const startReference = async (name: string, more: Record<string, string>): Promise<Server> => {
      const env = { SECRET, ...more }
      const child = startChild(new URL('reference-main.ts', import.meta.url), env, join(folder, `${name}.log`))
      return { port: await child.next<number>(20_000), cpuMs: child.cpuMs, stop: child.stop }
    }
    const startBare = () => startReference('bare', {})
    const startNaive = async (): Promise<Server> => {
      const before = await countMessages(stack.kafka, ingress.topic)
      const server = await startReference('naive', { BROKERS: stack.kafka, TOPIC: ingress.topic })
      return { ...server, stored: async () => (await countMessages(stack.kafka, ingress.topic)) - before }
    }
    const accepted = measureWith(load, { events: EVENTS, isAuthentic: true })
    const refused = measureWith(load, { events: EVENTS, isAuthentic: false })
    const startRefusing = async (): Promise<Server> => {
      const { port, cpuMs, stop } = await ingress.start()
      return { port, cpuMs, stop }
    }
    const comparisons: Comparison[] = [
      {
        name: 'Accepted events',
        readings: READINGS,
        contenders: [
          { name: 'ingress', measure: () => accepted(ingress.start) },
          { name: 'bare server', measure: () => accepted(startBare) },
          { name: 'one send per request', measure: () => accepted(startNaive) },
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
          { name: 'ingress', measure: () => refused(startRefusing) },
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
