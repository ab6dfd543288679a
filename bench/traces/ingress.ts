import { Agent } from 'node:http'
import { join } from 'node:path'
import { SIGNERS } from '@backstop/providers/test'
import { startProduct } from '../../scripts/start/product.ts'
import type { ServiceProcess } from '../../scripts/start/service-process.ts'
import { connectProcessor } from '../../test/setup/accounts.ts'
import { openCustomer } from '../../test/setup/customer.ts'
import { postOnce } from '../../test/setup/event-poster.ts'
import { cpuMsOf } from '../../test/setup/metrics.ts'
import { eventOf, makeRefunds } from '../../test/setup/refunds.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { CONTENDERS, READING, TARGETS, type TraceContender } from './contenders.ts'

const EVENTS = 12_000
const WARM_UP_EVENTS = 4_000
const CLIENTS = 40

/** Processes of ingress that differ in their traces only. Clients post signed events one after the other. */
export async function compareIngress(
  { stack, folder }: BenchSurroundings,
  settingsOf: (contender: TraceContender) => Record<string, string>,
): Promise<{ comparison: Comparison; stop(): Promise<void> }> {
  const product = await startProduct({
    dataDir: join(folder, 'traces-ingress'),
    env: {
      ...process.env,
      RATE_LIMIT_PER_S: '1000000',
      RATE_LIMIT_BURST: '10000000',
      SHED_WAIT_MS: '2500',
    },
    stackUrls: stack,
    topicPrefix: `traces-${Date.now().toString(36)}.`,
    only: ['ingress', 'admin-api'],
  })
  const customer = await openCustomer(product)
  const shop = await connectProcessor(customer)
  const { inbound_url: inboundUrl, signing_secret: secret = '' } = shop.connection
  const instances = new Map<TraceContender, ServiceProcess>()
  for (const contender of CONTENDERS) {
    const name = `ingress-traces-${CONTENDERS.indexOf(contender)}`
    instances.set(contender, await product.addInstance('ingress', name, settingsOf(contender)))
  }
  let rounds = 0

  async function postEvents(instance: ServiceProcess, count: number): Promise<void> {
    const url = `${instance.mainUrl}${new URL(inboundUrl).pathname}`
    const { header, sign } = SIGNERS.processor
    const bodies = makeRefunds(`i${++rounds}`, count).map(refund => Buffer.from(JSON.stringify(eventOf(refund).body)))
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
    const client = async () => {
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
        const outcome = await postOnce(url, body, { [header]: sign(body, [secret], Date.now()) }, agent)
        // Like a provider, posts an event again that a busy machine did not store in time.
        if (outcome === '503') bodies.push(body)
        else if (outcome !== '200') throw new Error(`An event was answered with ${outcome}`)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    agent.destroy()
  }

  async function measure(contender: TraceContender) {
    const instance = instances.get(contender) as ServiceProcess
    await postEvents(instance, WARM_UP_EVENTS)
    const before = await cpuMsOf(instance.opsUrl)
    await postEvents(instance, EVENTS)
    return { [READING]: (((await cpuMsOf(instance.opsUrl)) - before) / EVENTS) * 1_000 }
  }

  return {
    comparison: {
      name: 'Ingress receives an event',
      readings: { [READING]: 'µs' },
      contenders: CONTENDERS.map(contender => ({ name: contender.name, measure: () => measure(contender) })),
      targets: TARGETS,
    },
    async stop() {
      await shop.stop()
      await customer.stop()
      await product.stop()
    },
  }
}
