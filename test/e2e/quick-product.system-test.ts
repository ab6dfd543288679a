/**
 * The tests that share one product with a short delay of second looks. The tests of each file have projects of their own, and a file that
 * needs an idle product gets one, because the files run one after another.
 */
import { afterAll, beforeAll } from 'vitest'
import '../console/system.tests.ts'
import './archive.tests.ts'
import './command-line.tests.ts'
import './dry-run.tests.ts'
import './incident-life-cycle.tests.ts'
import './provider-answers.tests.ts'
import './projects-apart.tests.ts'
import './moved-project.tests.ts'
// Last, because the created admin key is an incident in every project.
import './delivery-control.tests.ts'
import { quickProduct } from './shared-products.ts'

beforeAll(quickProduct.open)
afterAll(quickProduct.close)
