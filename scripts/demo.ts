/**
 * Runs the demo on a running Backstop until the first alert, for the compose file and for clusters. The demo's receiver listens
 * on a loopback address, so this program must run in the network namespace of the notifier, and EGRESS_ALLOW_CIDRS must allow the
 * address. There must be one notifier: another pod of it would deliver to its own loopback address.
 *
 *     INGRESS_URL=… ADMIN_URL=… API_KEY=… node scripts/demo.ts        API_KEY_FILE=… names a file with the key
 */
import { readFileSync } from 'node:fs'
import { createFactPrinter } from './start/demo/fact-printer.ts'
import { runDemo } from './start/demo/run-demo.ts'

/** The only loopback address that the compose file and the local cluster allow. No other program listens on it. */
const RECEIVER_HOST = '127.77.0.1'
/** The longest time until the alert: the recheck delay of one minute, plus two minutes for busy machines. */
const WITHIN_MS = 180_000

function required(name: string): string {
  const file = process.env[`${name}_FILE`]
  const value = file ? readFileSync(file, 'utf8').trim() : process.env[name]
  if (value !== undefined && value !== '') return value
  process.stderr.write(`${name} is not set. Give INGRESS_URL, ADMIN_URL and API_KEY of the running product\n`)
  process.exit(78)
}

const printer = createFactPrinter(process.stdout, Date.now)
const demo = await runDemo({
  kept: undefined,
  saveRecord: () => {},
  ports: { receiver: Number(process.env.RECEIVER_PORT ?? 9_100), processor: 0 },
  receiverHost: RECEIVER_HOST,
  ingressUrl: required('INGRESS_URL'),
  adminUrl: required('ADMIN_URL'),
  key: required('API_KEY'),
  printer,
})
const deadline = setTimeout(() => {
  printer.print(`No alert came within ${WITHIN_MS / 1000} s`)
  process.exit(1)
}, WITHIN_MS)
const { refundedAtMs, alertedAtMs } = await demo.firstAlert
clearTimeout(deadline)
printer.print(`\nFirst alert ${((alertedAtMs - refundedAtMs) / 1000).toFixed(1)} s after the refund`)
await demo.stop()
process.exit(0)
