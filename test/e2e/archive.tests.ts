/** `backstop archive` beside the running product, with an explained refund that was made old in the database. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ActionDocument } from '@backstop/contracts'
import { nodeEnvironment, until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { quickProduct } from './shared-products.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const DAY_MS = 86_400_000
const WITHIN_MS = 60_000

describe('an archive of the running product', () => {
  let product: Product
  let shop: Shop
  let inspector: ProductInspector
  let root = ''

  beforeAll(async () => {
    product = quickProduct.get()
    shop = await openShop(product)
    inspector = await openInspector(product)
    root = mkdtempSync(join(tmpdir(), 'backstop-archive-'))
  })
  afterAll(async () => {
    await shop?.stop()
    await inspector?.stop()
    if (root !== '') rmSync(root, { recursive: true })
  })

  async function backstop(...args: string[]) {
    const env = { ...nodeEnvironment(), BACKSTOP_URL: product.urls.admin, BACKSTOP_API_KEY: product.key }
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: root, env })
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => (out += chunk))
    child.stderr.on('data', chunk => (err += chunk))
    const exit = await new Promise(done => child.once('close', done))
    return { exit, out, err }
  }

  /** Everything that was recorded about the refund becomes 500 days older, in its case and in the list. */
  async function makeOld(actionId: string, subject: string): Promise<void> {
    const older = (ms: number) => ms - 500 * DAY_MS
    const olderText = (at: string) => new Date(older(Date.parse(at))).toISOString()
    const actions = inspector.database.collection<ActionDocument>('actions')
    const listed = (await actions.findOne({ _id: actionId })) as ActionDocument
    const first_seen_at = olderText(listed.first_seen_at)
    const timeline = listed.timeline.map(entry => ({ ...entry, at: olderText(entry.at) }))
    await actions.updateOne(
      { _id: actionId },
      { $set: { first_seen_at, first_seen: new Date(first_seen_at), timeline } },
    )
    const cases = inspector.database.collection<{ current: [{ state: string }] }>('subjects')
    const found = await cases.findOne({ project_id: shop.projectId, 'current.state': { $regex: subject } } as object)
    if (found === null) throw new Error(`No case has ${subject}`)
    const state = found.current[0].state
      .replaceAll(/"firstSeenAt":(\d+)/g, (_, at) => `"firstSeenAt":${older(Number(at))}`)
      .replaceAll(/"at":"([^"]+)"/g, (_, at) => `"at":"${olderText(at)}"`)
    expect(state).toContain(first_seen_at)
    await cases.updateOne({ _id: found._id }, { $set: { 'current.0.state': state } } as object)
  }

  const stats = async () => {
    const { totals, recount_pending } = await shop.api.get<{ totals: object[]; recount_pending: boolean }>(
      `/v1/stats?project_id=${shop.projectId}`,
    )
    return { totals, recount_pending }
  }
  /** The totals when no day waits for its count. */
  const counted = () =>
    until('counted totals', async () => {
      const now = await stats()
      return !now.recount_pending && now.totals.length > 0 && now
    })

  test('an old explained refund is archived, its totals do not change, and a repeated event causes no alert', async () => {
    const { paymentIntent } = shop.pay()
    const operation = { subject: paymentIntent.id, amount: 700, currency: 'eur', state: 'executing' }
    await shop.report(operation)
    shop.endpoint.hold()
    const refund = shop.processor.refund({ payment_intent: paymentIntent.id, amount: 700 })
    let events: Parameters<Shop['endpoint']['post']>[0][] = []
    await shop.endpoint.release(held => {
      events = held
      return held
    })
    const action = await until('the verdict', async () => {
      const found = await shop.action(refund.id)
      return found?.verdict === 'explained' && found
    })
    const before = await counted()
    await inspector.untilIdle(WITHIN_MS)
    await makeOld(action.action_id, paymentIntent.id)

    const directory = join(root, 'archive')
    expect(await backstop('archive', 'write', directory, '--project', shop.projectId)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 action archived in 1 part'),
    })
    writeFileSync(join(root, 'audit.pem'), (await backstop('audit', 'public-key')).out)
    expect(await backstop('archive', 'verify', directory, '--public-key', 'audit.pem')).toEqual({
      ...{ exit: 0, err: '' },
      out: '1 part with 1 action: unchanged\n',
    })
    const shown = await backstop('archive', 'show', directory, '--provider-ref', refund.id)
    expect(shown).toMatchObject({ exit: 0, out: expect.stringContaining(action.action_id) })

    const archived = await fetch(`${product.urls.admin}/v1/actions/${action.action_id}`, {
      headers: { authorization: `Bearer ${product.key}` },
    })
    expect([archived.status, await archived.json()]).toMatchObject([
      404,
      { detail: expect.stringContaining(`backstop archive show --action ${action.action_id}`) },
    ])
    expect(await counted()).toEqual(before)

    for (const event of events) await shop.endpoint.post({ ...event, id: `${event.id}_again` })
    // Its alert would be the first of the payment.
    const sentinel = shop.processor.refund({ payment_intent: paymentIntent.id, amount: 77 })
    await shop.alertAbout(sentinel.id, WITHIN_MS)
    await inspector.untilIdle(WITHIN_MS)
    expect(shop.alertsAbout(refund.id)).toEqual([])
    expect(await shop.incidents()).toHaveLength(1)
    expect(await shop.action(refund.id)).toBeUndefined()
    const after = await counted()
    expect(after.totals.filter(total => (total as { verdict: string }).verdict === 'explained')).toEqual(before.totals)
  })
})
