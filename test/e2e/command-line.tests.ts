/** Runs commands of `backstop` beside the running product. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeEnvironment, until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { quickProduct, RECHECK_DELAY_MS } from './shared-products.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

describe('the command line', () => {
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
    const { out, ...ended } = await endedBackstop(...args)
    expect(ended).toEqual({ exit: 0, err: '' })
    return out
  }

  async function endedBackstop(...args: string[]) {
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
    return { exit, out, err }
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

  test('reports the lines of a file, which explain their refund; sent again they change nothing', async () => {
    const payment = shop.pay()
    const folder = mkdtempSync(join(tmpdir(), 'report-'))
    const file = join(folder, 'refunds.ndjson')
    const line = {
      connection_id: shop.connection.connection_id,
      kind: 'refund',
      subject: payment.paymentIntent.id,
      amount: 700,
      currency: 'eur',
      idempotency_key: `file-${payment.paymentIntent.id}`,
    }
    const lines = [
      { ...line, state: 'executing' },
      { ...line, state: 'completed' },
      { ...line, kind: 'gift' },
    ]
    writeFileSync(file, lines.map(one => `${JSON.stringify(one)}\n`).join(''))
    const { exit, out, err } = await endedBackstop('report', file)
    expect([exit, out]).toEqual([1, '2 reports recorded\n'])
    expect(err).toMatch(/^Refused: .*kind.*"gift".*1 line refused: .*refunds.ndjson.refused\n$/s)
    const { id } = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 700 })
    expect(await judged(id)).toMatchObject({ verdict: 'explained' })

    expect(await runBackstop('report', file)).toBe('0 reports recorded\n')
    rmSync(`${file}.position`)
    expect((await endedBackstop('report', file)).out).toBe('2 reports recorded\n')
    expect(await shop.api.get(`/v1/operations?subject=${payment.paymentIntent.id}`)).toMatchObject({
      data: [{ state: 'completed', version: 2 }],
    })
    rmSync(folder, { recursive: true })
  })

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

  test('lists the incidents of a customer', async () => {
    const made = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 1_100 })
    shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 1_200 })
    const { customer, incident_id } = await judged(made.id)
    const ofCustomer = ['incidents', 'list', '--project', shop.projectId, '--customer', String(customer?.id)]
    expect((await runBackstop(...ofCustomer, '--ids')).trim()).toBe(incident_id)
  })

  test('states whether everything was read and judged, and verifies the signed statement', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backstop-completeness-'))
    const [signed, pem] = [join(folder, 'signed.json'), join(folder, 'audit.pem')]
    try {
      const { name } = shop.connection
      expect(await runBackstop('completeness', 'show', shop.connection.connection_id)).toContain(name)
      await runBackstop('completeness', 'show', shop.projectId, '--from', '1d', '--signed', signed)
      writeFileSync(pem, await runBackstop('audit', 'public-key'))
      const verify = ['completeness', 'verify', signed, '--public-key', pem]
      const shown = await runBackstop(...verify)
      expect(shown).toMatch(/^The signature is valid\.\n/)
      expect(shown).toContain(name)
      writeFileSync(signed, readFileSync(signed, 'utf8').replaceAll(name, 'Another'))
      const { exit, err } = await endedBackstop(...verify)
      expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('no valid signature') })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
