/** A program that makes one refund, for the test that kills it. Arguments: the port of the provider and of Backstop, the folder of the spool. */
import Stripe from 'stripe'
import { createFileSpool } from '../src/file-spool.ts'
import { watch } from '../src/reporter/watch.ts'

const [port = '', folder = ''] = process.argv.slice(2)
const stripe = new Stripe('sk_test_1', { host: '127.0.0.1', port: Number(port), protocol: 'http' })
watch(stripe, {
  key: 'k',
  connectionId: 'con_1',
  baseUrl: `http://127.0.0.1:${port}`,
  spool: createFileSpool({ folder }),
})
await stripe.refunds.create({ payment_intent: 'pi_1', amount: 700 })
