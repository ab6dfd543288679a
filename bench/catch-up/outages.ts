/** The parts of the product that stop, and how each stops and starts. */
import type { RunningStack } from '@backstop/stack'
import type { Product } from '../../scripts/start/product.ts'
import { setMongoCache } from '../frame/mongo-cache.ts'

/** The running parts. */
export interface Parts {
  readonly product: Product
  readonly stack: RunningStack['parts']
}

export interface Outage {
  /** The part that stops. */
  readonly name: string
  /** The step before which the backlog waits. Before `acceptance` it is at the providers, which repeat refused events. */
  readonly waitsFor: 'acceptance' | 'verdict' | 'alert'
  stop(parts: Parts): Promise<void>
  /** Resolves when the process of a service exists, or when Kafka or MongoDB is ready. */
  start(parts: Parts): Promise<void>
}

/** A service has this long to finish its batch, in milliseconds. */
const STOP_GRACE_MS = 30_000

const service = (name: 'reconciler' | 'notifier') => ({
  stop: ({ product }: Parts) => product.children[name].stop(STOP_GRACE_MS),
  start: async ({ product }: Parts) => product.children[name].start(),
})

export const OUTAGES: readonly Outage[] = [
  { name: 'reconciler', waitsFor: 'verdict', ...service('reconciler') },
  {
    name: 'Kafka',
    waitsFor: 'acceptance',
    stop: ({ stack }) => stack.kafka.stop(),
    start: ({ stack }) => stack.kafka.restart(),
  },
  { name: 'notifier', waitsFor: 'alert', ...service('notifier') },
  {
    name: 'MongoDB',
    waitsFor: 'verdict',
    stop: ({ stack }) => stack.mongo.stop(),
    async start({ stack, product }) {
      await stack.mongo.restart()
      await setMongoCache(product.urls.mongo)
    },
  },
]
