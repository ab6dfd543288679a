/** The console while something is disturbed: reads that fail for a while, no network, and text that was written to mislead. */
import { until } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleTab } from './console-browser.ts'
import { sharedConsole } from './shared-console.ts'

const ALERT_MS = 240_000
/** A right-to-left override turns "gpj.exe" into "exe.jpg". */
const MISLEADING = 'pi_\u202egpj.exe\u200b'

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let tab: ConsoleTab
let incidentPath: string

describe('the console while something is disturbed', () => {
  beforeAll(async () => {
    const shared = sharedConsole()
    product = shared.product
    shop = await openShop(product)
    stops.push(shop.stop)
    const refund = { payment_intent: shop.pay().paymentIntent.id, amount: 4_321 }
    await shop.alertAbout(shop.processor.refund(refund).id, ALERT_MS)
    const [incident] = await shop.incidents()
    incidentPath = `/p/${shop.projectId}/incidents/${incident?.incident_id}`
    tab = await shared.browser.openSignedIn(product.urls.admin, product.key)
    stops.push(() => tab.close())
  }, ALERT_MS + 30_000)
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(() => {
    expect(tab.faults()).toEqual([])
  })

  test('invisible characters of foreign text are shown by their code points', async () => {
    await shop.report({ subject: MISLEADING, amount: 1_234, currency: 'eur', state: 'completed' })
    await tab.open(`/p/${shop.projectId}/operations`)
    const row = tab.page.getByRole('region', { name: 'Operations' }).getByRole('link')
    await row.filter({ hasText: 'pi_<U+202E>gpj.exe<U+200B>' }).click()
    await tab.page.getByText('pi_<U+202E>gpj.exe<U+200B>').first().waitFor()
    expect(await tab.page.content()).not.toMatch(/[\u202e\u200b]/)
  })

  test('names that could not be read are read again while the page stays open', async () => {
    const { page } = tab
    const names = '**/v1/alert-channels?*'
    let asked = 0
    await page.route(names, route => {
      asked++
      return route.abort('connectionrefused')
    })
    await tab.open(incidentPath)
    const sent = page.getByRole('heading', { name: 'Alerts sent' }).locator('..')
    await sent.getByText(/^chn_/).first().waitFor()
    // The client asks three times. The fourth request is the read that is repeated.
    await expect.poll(() => asked).toBeGreaterThan(3)
    await page.unroute(names)
    await sent.getByText('Receiver').first().waitFor()
    tab.faults()
  })

  test('a comment that fails says so beside its box, and keeps the text', async () => {
    const { page } = tab
    await tab.open(incidentPath)
    await page.route('**/comments', route => route.abort('connectionrefused'))
    await page.getByLabel('Comment').fill('Ticket 4713')
    await page.getByRole('button', { name: 'Comment', exact: true }).click()
    const form = page.locator('form').filter({ has: page.getByLabel('Comment') })
    await form.getByRole('alert').getByText('The comment was not stored').waitFor()
    expect(await page.getByRole('alert').count()).toBe(1)
    expect(await page.getByLabel('Comment').inputValue()).toBe('Ticket 4713')
    await page.unroute('**/comments')
    await page.getByRole('button', { name: 'Comment', exact: true }).click()
    await form.getByRole('alert').waitFor({ state: 'detached' })
    tab.faults()
  })

  test('an acknowledgement without a network fails at once, and is not sent when the network is back', async () => {
    const { page, context } = tab
    await tab.open(incidentPath)
    await page.getByText('Live updates', { exact: true }).waitFor()
    const sent: string[] = []
    page.on('request', request => request.method() === 'POST' && sent.push(request.url()))
    await context.setOffline(true)
    await page.getByText(/^No live updates/).waitFor()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    const problem = page.getByRole('alert').filter({ hasText: 'The incident was not acknowledged' })
    await problem.getByText('No network. It is not sent later by itself').waitFor()
    const before = sent.length
    await context.setOffline(false)
    await page.getByText('Live updates', { exact: true }).waitFor()
    expect(sent).toHaveLength(before)
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page
      .getByText(/^Acknowledged by/)
      .first()
      .waitFor()
    await problem.waitFor({ state: 'detached' })
    tab.faults()
  })

  test('dead letters that nothing can use are dismissed all at once, and leave the list that is open', async () => {
    const { page } = tab
    const inspector = await openInspector(product)
    stops.push(inspector.stop)
    for (const key of ['one', 'two', 'three']) await inspector.produce('operations', key, Buffer.from('{"other":1}'))
    const countOf = async (path: string) => (await shop.api.get<{ data: object[] }>(path)).data.length
    const deadOperations = () => countOf('/v1/dead-letters?kind=operation')
    const dismissals = () => countOf('/v1/audit?action=dead_letter.dismiss')
    const dismissedBefore = await dismissals()
    await until('the dead letters', async () => (await deadOperations()) >= 3, { timeoutMs: ALERT_MS })
    const dead = await deadOperations()
    await tab.open('/system/dead-letters?kind=operation')
    const rows = page.getByRole('region', { name: 'Dead letters' }).getByRole('link')
    await expect.poll(() => rows.count(), { timeout: ALERT_MS }).toBe(dead)

    await page.getByRole('button', { name: 'Dismiss all' }).click()
    const dialog = page.getByRole('dialog', { name: 'Dismiss all that fit the filters?' })
    await dialog.getByText('They are never sent, and leave this list.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await deadOperations()).toBe(dead)
    await page.getByRole('button', { name: 'Dismiss all' }).click()
    await dialog.getByRole('button', { name: 'Dismiss all' }).click()
    await dialog.getByText(`${dead} dismissed. They leave the list within seconds.`).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('No dead letter fits these filters.').waitFor()
    await until('the audit', async () => (await dismissals()) === dismissedBefore + dead, { timeoutMs: ALERT_MS })
  })
})
