/**
 * `npm run demo:refund` makes one more unreported refund on the running `npm start`. It uses the key of the simulated card
 * processor, like somebody with a leaked key.
 */
import { fileURLToPath } from 'node:url'
import { readRunOrExit } from './start/run-file.ts'

const { processor } = readRunOrExit(fileURLToPath(new URL('../.backstop', import.meta.url)))
if (processor === undefined) {
  process.stderr.write('This Backstop runs without the demo. Start it with the demo in another terminal:  npm start\n')
  process.exit(1)
}
const { url, key } = processor

async function ask(path: string, form: Record<string, string>): Promise<{ id: string }> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: new URLSearchParams(form),
  })
  if (!response.ok) throw new Error(`The card processor answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as { id: string }
}

const payment = await ask('/v1/payment_intents', { amount: '6000', currency: 'eur' })
const refund = await ask('/v1/refunds', { payment_intent: payment.id, amount: '1500' })
process.stdout.write(
  `Refund ${refund.id} of EUR 15.00 on ${payment.id} made. The terminal of npm start shows what follows\n`,
)
