/** A product that sends its traces to an OTLP/HTTP receiver of the test. */
import { type Receiver, startReceiver } from '@backstop/kit/test'
import type { Product } from '../../scripts/start/product.ts'
import { openProduct } from '../setup/product.ts'

export const RECHECK_DELAY_MS = 3_000

interface TracedProduct {
  readonly product: Product
  readonly collector: Receiver
}

let traced: TracedProduct | undefined

/** @throws Error before openTracedProduct */
export function tracedProduct(): TracedProduct {
  if (traced === undefined) throw new Error('The product that sends traces is not started')
  return traced
}

export async function openTracedProduct(): Promise<void> {
  const collector = await startReceiver((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const product = await openProduct('traced', {
    recheckDelayMs: RECHECK_DELAY_MS,
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=our%20tenant',
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  })
  traced = { product, collector }
}

export async function closeTracedProduct(): Promise<void> {
  await traced?.product.stop()
  await traced?.collector.stop()
}
