/** Runs `backstop explain` and `backstop dry-run` beside the running product. */
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { nodeEnvironment, until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { quickProduct, RECHECK_DELAY_MS } from './shared-products.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

describe('backstop explain and backstop dry-run', () => {
  let product: Product
  let shop: Shop

  beforeAll(async () => {
    product = quickProduct.get()
    shop = await openShop(product)
  })

  afterAll(async () => {
    await shop?.stop()
  })

  async function runBackstop(...args: string[]) {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: tmpdir(),
      env: {
        ...nodeEnvironment(),
        BACKSTOP_URL: product.urls.admin,
        BACKSTOP_API_KEY: product.key,
        MONGO_URL: product.urls.mongo,
        MONGO_DB: product.database,
        RECHECK_DELAY_MS: String(RECHECK_DELAY_MS),
      },
    })
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => (out += chunk))
    child.stderr.on('data', chunk => (err += chunk))
    const exit = await new Promise(done => child.once('close', done))
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    return out
  }

  /** Waits for the verdict on a refund. @returns its action */
  const judged = (refundId: string) =>
    until(
      `the verdict on ${refundId}`,
      async () => {
        const action = await shop.action(refundId)
        return action === undefined || action.verdict === 'pending' ? undefined : action
      },
      { timeoutMs: 60_000 },
    )

  test('explains a verdict, and shows by a dry run what another setting would change', async () => {
    const payment = shop.pay()
    const operation = await shop.report({
      subject: payment.paymentIntent.id,
      amount: 500,
      currency: 'eur',
      state: 'executing',
    })
    const explained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 500 })
    const unexplained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 900 })
    const [byOperation, byNobody] = [await judged(explained.id), await judged(unexplained.id)]

    expect(await runBackstop('explain', byOperation.action_id)).toContain(`Operation  ${operation.operation_id}`)
    const why = await runBackstop('explain', byNobody.action_id)
    expect(why).toContain('Nothing explains it')
    expect(why).toMatch(new RegExp(`${operation.operation_id}.*\\(other_amount\\)`))

    const dryRun = (mode: string) => runBackstop('dry-run', '--out-of-band', mode, '--project', shop.projectId)
    expect(await dryRun('alert')).toMatch(/Alerted +1 \(EUR 9\.00\)\nWith alert +1 \(EUR 9\.00\)\n$/)
    const ignored = await dryRun('ignore')
    expect(ignored).toContain('With ignore  0\n')
    expect(ignored).toContain(`would not alert  ${byNobody.action_id}: refund of EUR 9.00`)
    // The dry run changed nothing that is stored.
    expect(await judged(unexplained.id)).toEqual(byNobody)
  })
})
