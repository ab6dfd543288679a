/** The tests of metrics and of traces, which share a product that sends its traces. */
import { afterAll, beforeAll } from 'vitest'
// First, because it expects the numbers of a new product.
import './metrics.tests.ts'
// Last, because it stops the services.
import './traces.tests.ts'
import { closeTracedProduct, openTracedProduct } from './traced-product.ts'

beforeAll(openTracedProduct)
afterAll(closeTracedProduct)
