/** The tests that share one product with the delay of second looks that users have. */
import { afterAll, beforeAll } from 'vitest'
// These two wait for the same minute.
import './first-alert.tests.ts'
import './first-steps.tests.ts'
import '../client/reporters.tests.ts'
// Last, because it kills the reconciler.
import '../faults/second-look-moves.tests.ts'
import { minuteProduct } from './shared-products.ts'

beforeAll(minuteProduct.open)
afterAll(minuteProduct.close)
