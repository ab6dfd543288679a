/**
 * `npm run demo:refund` makes one more unreported refund on the running `npm start`. It uses the key of the simulated card
 * processor, like somebody with a leaked key.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RunFile } from './start/run-file.ts'

const RUN_PATH = fileURLToPath(new URL('../.backstop/run.json', import.meta.url))

function readProcessor(): { url: string; key: string } {
  try {
    const { processor } = JSON.parse(readFileSync(RUN_PATH, 'utf8')) as RunFile
    if (processor !== undefined) return processor
  } catch {
    // The missing file is reported below.
  }
  process.stderr.write('No demo is running here. Start it in another terminal:  npm start\n')
  process.exit(1)
}

const processor = readProcessor()

async function ask(path: string, form: Record<string, string>): Promise<{ id: string }> {
  const response = await fetch(`${processor.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${processor.key}` },
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
