/** The names in the audit, and what an open page does while admin-api restarts. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'
import { quickProduct } from '../e2e/shared-products.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { type ConsoleBrowser, type ConsoleTab, openConsoleBrowser } from './console-browser.ts'
import { pixelsBesidePhone } from './places.ts'

const ALERT_MS = 240_000

describe('the console of a running product', () => {
  const stops: (() => Promise<void>)[] = []
  let product: Product
  let shop: Shop
  let browser: ConsoleBrowser
  let tab: ConsoleTab

  beforeAll(async () => {
    product = quickProduct.get()
    shop = await openShop(product)
    browser = await openConsoleBrowser()
    stops.push(shop.stop, browser.close)
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(async () => {
    await tab.close()
  })

  test('shows names where an id of a key or connection is stored, and keeps the id beside them', async () => {
    const admin = await shop.api.post<{ key: string; key_id: string }>('/v1/api-keys', {
      ...{ name: 'Key of Nora', scopes: ['admin'], expires_in_days: 1 },
    })
    const { connection_id: connectionId } = shop.connection
    const nora = createManagementApi(product.urls.admin, admin.key)
    const change = await nora.post<{ expected_change_id: string }>('/v1/expected-changes', {
      ...{ project_id: shop.projectId, connection_id: connectionId, kind: 'refund', amount: 1, currency: 'eur' },
      note: 'Campaign of the week',
    })
    await nora.patch(`/v1/projects/${shop.projectId}/connections/${connectionId}`, { name: 'Cards of the shop' })
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    const { page } = tab
    await tab.open(`/p/${shop.projectId}/expected-changes/${change.expected_change_id}`)
    await page.getByTitle(admin.key_id).getByText('Key of Nora').waitFor()

    await tab.open(`/system/audit?project_id=${shop.projectId}&action=connection.change`)
    const row = page.getByRole('region', { name: 'Audit' }).getByRole('link').first()
    await row.getByText('Cards of the shop').waitFor()
    await row.getByText('Key of Nora').waitFor()
    await row.click()
    const panel = page.getByRole('dialog')
    await panel.getByText('Cards of the shop').first().waitFor()
    await panel.getByRole('button', { name: `Copy ${connectionId}` }).waitFor()
    expect(tab.faults()).toEqual([])
  })

  test('stays readable while admin-api is down, and then shows without a reload what happened meanwhile', async () => {
    tab = await browser.openTab(product.urls.admin)
    const { page } = tab
    await tab.open(`/p/${shop.projectId}/incidents`)
    await page.getByLabel('API key').waitFor()
    // This installation has no OpenID Connect provider.
    expect(await page.getByRole('link', { name: 'Sign in with your organisation' }).count()).toBe(0)
    await tab.signIn(product.key)
    await page.getByText('Live updates', { exact: true }).waitFor()
    const rows = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
    const refund = (amount: number) => {
      const { paymentIntent } = shop.pay()
      shop.processor.refund({ payment_intent: paymentIntent.id, amount })
    }
    refund(12_345)
    await rows.filter({ hasText: '123.45' }).waitFor({ timeout: ALERT_MS })
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))

    product.children['admin-api'].kill('SIGKILL')
    await page.getByText(/^Live updates lost at/).waitFor()
    expect(await rows.filter({ hasText: '123.45' }).count()).toBe(1)
    const desktop = page.viewportSize()
    expect(await pixelsBesidePhone(page)).toBe(0)
    await page.getByText(/^No live updates/).waitFor()
    if (desktop !== null) await page.setViewportSize(desktop)
    refund(54_321)
    await product.children['admin-api'].restart()

    await page.getByText('Live updates', { exact: true }).waitFor({ timeout: ALERT_MS })
    await rows.filter({ hasText: '543.21' }).waitFor({ timeout: ALERT_MS })
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true)
  })
})
