/**
 * The whole product on one machine, a provider that sends authentic events, and attackers with and without an API key.
 */
import { join } from 'node:path'
import type { StackUrls } from '@backstop/stack'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { type Connected, connectProcessor, READ_KEY } from '../../test/setup/accounts.ts'
import { type Customer, openCustomer } from '../../test/setup/customer.ts'
import { percentile } from '../frame/statistics.ts'
import { type AttackCounts, startAttacker } from './attacker.ts'
import { startExfiltration } from './exfiltration.ts'
import { readAllTopics, type TopicContent } from './topics.ts'
import { type SentEvents, sendValidEvents } from './valid-events.ts'

export const EVENTS_A_SECOND = 50
/** Number of slow sockets: more than ingress keeps open (MAX_SOCKETS). */
const SLOW_SOCKETS = 5_500
const GARBAGE_A_SECOND = 400
/** A word in every id and text of an attacker, and in no authentic one. */
const MARK = 'forged'

export interface MeasuredSender extends SentEvents {
  readonly p50Ms: number
  readonly p99Ms: number
}

interface MeasuredAttack extends MeasuredSender {
  readonly counts: AttackCounts
  readonly exfiltrations: number
  /** Descriptions of the attackers' successes; empty if there are none. */
  readonly breaches: readonly string[]
}

export interface FloodWorld {
  readonly product: Product
  calm(seconds: number): Promise<MeasuredSender>
  attacked(seconds: number): Promise<MeasuredAttack>
  /** The contents of the topics, and the ids of all authentic events so far. */
  topics(): Promise<TopicContent & { readonly validIds: ReadonlySet<string> }>
  stop(): Promise<void>
}

export async function openFloodWorld(name: string, stack: StackUrls, folder: string): Promise<FloodWorld> {
  const product = await startProduct({
    dataDir: join(folder, name),
    env: process.env,
    stackUrls: stack,
    topicPrefix: `${name}-${process.pid}-${Date.now().toString(36)}.`,
  })
  const customer: Customer = await openCustomer(product, ['run.failed'])
  const processor: Connected<'processor'> = await connectProcessor(customer, { isReadable: true })
  const { connection } = processor
  const validIds = new Set<string>()
  let runs = 0

  const measure = async (seconds: number): Promise<MeasuredSender> => {
    const sent = await sendValidEvents(connection, `valid${++runs}x`, { perSecond: EVENTS_A_SECOND, seconds })
    for (const id of sent.ids) validIds.add(id)
    return { ...sent, p50Ms: percentile(sent.latenciesMs, 0.5), p99Ms: percentile(sent.latenciesMs, 0.99) }
  }
  return {
    product,
    calm: measure,
    async attacked(seconds) {
      const attack = { url: connection.inbound_url, garbagePerSecond: GARBAGE_A_SECOND, slowSockets: SLOW_SOCKETS }
      const attacker = await startAttacker(attack, join(folder, 'attacker.log'))
      const exfiltration = await startExfiltration(customer, processor, READ_KEY)
      try {
        const measured = await measure(seconds)
        const counts = await attacker.counts()
        return { ...measured, counts, exfiltrations: exfiltration.attempts(), breaches: exfiltration.breaches() }
      } finally {
        await exfiltration.stop()
        await attacker.stop()
      }
    },
    async topics() {
      return { ...(await readAllTopics(stack.kafka.split(','), product.topicPrefix, MARK)), validIds }
    },
    async stop() {
      await processor.stop()
      await customer.stop()
      await product.stop()
    },
  }
}
