import type { StackUrls } from '@backstop/stack'
import { type Product, startProduct } from '../../../scripts/start/product.ts'
import { openInspector, TOPICS_OF_GROUP } from '../../setup/product-inspector.ts'
import { SPEED } from './timers.ts'

export const SECOND_LOOK_MS = 60_000 / SPEED
const STORM_MS = 300_000 / SPEED
/** Not SPEED times shorter than in production, because the requests of many accounts would never rest. */
const SWEEP_EVERY_MS = 120_000

/** Creates topics, schemas and indexes, and starts no service. */
export function prepareProduct(name: string, folder: string, stackUrls: StackUrls): Promise<Product> {
  return startProduct({
    dataDir: folder,
    env: process.env,
    stackUrls,
    topicPrefix: `${name}-${process.pid}-${Date.now().toString(36)}.`,
    recheckDelayMs: SECOND_LOOK_MS,
    serviceEnv: {
      reconciler: { SWEEP_EVERY_MS: String(SWEEP_EVERY_MS) },
      notifier: { STORM_WINDOW_MS: String(STORM_MS), STORM_QUIET_MS: String(STORM_MS) },
    },
    only: [],
  })
}

/** The groups whose work must be done before a run is judged: all but those of the retries after a minute and later. */
const GROUPS = {
  ...TOPICS_OF_GROUP,
  'reconciler.rechecks.unanswered': ['rechecks.unanswered'],
  'notifier.retry.1m': ['deliveries.retry.1m'],
  'notifier.commands': ['commands'],
} as const

/** Resolves when nothing of the product is in flight. @throws Error after `withinMs` that says what is */
export async function untilIdle(product: Product, withinMs: number): Promise<void> {
  const inspector = await openInspector(product, GROUPS)
  try {
    await inspector.untilIdle(withinMs)
  } finally {
    await inspector.stop()
  }
}

/** Removes the topics and the database of a product. */
export async function removeProduct(product: Product): Promise<void> {
  const inspector = await openInspector(product)
  try {
    await inspector.removeEverything()
  } finally {
    await inspector.stop()
  }
}
