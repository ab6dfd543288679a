/** Actors, customers and connected accounts in the console: each is a page with all it did. People name actors. Connected accounts have settings of their own. */
import type { CreatedConnection } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleTab } from './console-browser.ts'
import { pixelsBesidePhone, violationsOf } from './places.ts'
import { sharedConsole } from './shared-console.ts'

const ALERT_MS = 240_000
/** A declared prefix holds after about two seconds. */
const REFUND_EVERY_MS = 1_000

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let tab: ConsoleTab

describe('actors in the console', () => {
  beforeAll(async () => {
    const shared = sharedConsole()
    product = shared.product
    shop = await openShop(product, { hasBurstAlarm: false })
    stops.push(shop.stop)
    tab = await shared.browser.openSignedIn(product.urls.admin, product.key)
    stops.push(() => tab.close())
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(() => {
    expect(tab.faults()).toEqual([])
  })

  test('software that a person declares, names and gives a role is shown by its name, and found by it', async () => {
    const { page } = tab
    const dialog = page.getByRole('dialog')
    const actors = page.getByRole('region', { name: 'Actors' })
    await tab.open(`/p/${shop.projectId}/actors`)
    await page.getByRole('button', { name: 'Declare software' }).click()
    await dialog.getByLabel('Its idempotency keys begin with').fill('billing-')
    await dialog.getByLabel('Name').fill('Billing')
    await dialog.getByRole('button', { name: 'Declare', exact: true }).click()
    await actors.getByRole('link', { name: 'Billing' }).waitFor()

    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await dialog.getByLabel('Name').fill('Support tool')
    await dialog.getByLabel('What it is').first().click()
    await page.getByRole('option', { name: 'Agent' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await actors.getByRole('link', { name: 'Support tool' }).waitFor()
    await actors.getByText('Agent', { exact: true }).waitFor()
    expect(await violationsOf(page)).toEqual([])

    let made = 0
    const refund = await until(
      'a refund of the declared software',
      async () => {
        made += 1
        const payment_intent = shop.pay().paymentIntent.id
        shop.processor.refund({ payment_intent, amount: 3_000 + made, idempotencyKey: `billing-${made}` })
        return (await shop.actions()).find(({ actor_name }) => actor_name === 'Support tool')
      },
      { timeoutMs: ALERT_MS, everyMs: REFUND_EVERY_MS },
    )
    const amount = `${((refund.amount ?? 0) / 100).toFixed(2)}`
    await shop.alertAbout(refund.provider_ref ?? '', ALERT_MS)
    for (const list of ['Refunds and cancellations', 'Incidents']) {
      await tab.open(
        `/p/${shop.projectId}/${list === 'Incidents' ? 'incidents' : 'actions'}?actor_id=${refund.actor_id}`,
      )
      const row = page.getByRole('region', { name: list }).getByRole('link').filter({ hasText: amount })
      await row.getByText('Support tool').waitFor()
      await row.click()
      await page.getByRole('link', { name: 'Support tool', exact: true }).waitFor()
    }

    await tab.open(`/p/${shop.projectId}/statements`)
    await page
      .getByRole('table', { name: 'By actor' })
      .getByRole('row', { name: /Support tool/ })
      .first()
      .waitFor()

    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find an id/ }).fill('support t')
    await page.getByRole('option').filter({ hasText: 'Actor Support tool' }).click()
    await page.waitForURL(url => url.pathname.endsWith(`/actors/${refund.actor_id}`))
    await page.getByRole('heading', { level: 1, name: 'Support tool' }).waitFor()
    await page.getByRole('row', { name: /EUR test/ }).waitFor()
    await page.getByRole('region', { name: 'Refunds and cancellations' }).getByRole('link').first().waitFor()
  })

  test('a customer is one click from an incident: its other refunds, their sum, and its incidents', async () => {
    const { page } = tab
    const payment_intent = shop.pay().paymentIntent.id
    for (const amount of [6_100, 6_200]) {
      await shop.alertAbout(shop.processor.refund({ payment_intent, amount }).id, ALERT_MS)
    }
    const other = { payment_intent: shop.pay().paymentIntent.id, amount: 6_300 }
    await shop.alertAbout(shop.processor.refund(other).id, ALERT_MS)
    const customer = (await shop.actions()).find(({ amount }) => amount === 6_100)?.customer
    const rows = (name: string) => page.getByRole('region', { name }).getByRole('link')
    await tab.open(`/p/${shop.projectId}/incidents`)
    await rows('Incidents').filter({ hasText: '61.00' }).click()
    await page.getByRole('link', { name: '1 other of this customer in 30 days' }).click()
    await page.getByRole('heading', { level: 1, name: customer?.name ?? '' }).waitFor()
    const sums = page.getByRole('row', { name: /EUR test/ })
    await sums.getByText('EUR\u00a0123.00').first().waitFor()
    await rows('Refunds and cancellations').nth(1).waitFor()
    expect(await rows('Refunds and cancellations').count()).toBe(2)
    expect(await violationsOf(page)).toEqual([])
    expect(await pixelsBesidePhone(page)).toBe(0)
    const place = page.url()

    await page.getByRole('main').getByRole('link', { name: 'Incidents', exact: true }).click()
    await rows('Incidents').nth(1).waitFor()
    expect(await rows('Incidents').count()).toBe(2)

    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find an id/ }).fill(customer?.id ?? '')
    await page
      .getByRole('option')
      .filter({ hasText: `Customer ${customer?.name}` })
      .click()
    await page.waitForURL(place)

    // Live: what happens while the page is open.
    shop.processor.refund({ payment_intent, amount: 7_700 })
    await sums.getByText('EUR\u00a0200.00').first().waitFor({ timeout: ALERT_MS })
    await rows('Refunds and cancellations').filter({ hasText: '77.00' }).waitFor()
  })

  test('one connected account gets a setting of its own, which can be taken back', async () => {
    const { page } = tab
    const { connection_id } = shop.connection
    const settings = async () => {
      const path = `/v1/projects/${shop.projectId}/connections`
      const { data } = await shop.api.get<{ data: CreatedConnection[] }>(path)
      return data.find(one => one.connection_id === connection_id)?.accounts
    }
    await tab.open(`/p/${shop.projectId}/connections/${connection_id}`)
    await page.getByLabel('Connected account', { exact: true }).fill('acct_quiet')
    await page.getByRole('button', { name: 'Set for this account' }).click()
    await until('the setting of the account', async () => (await settings())?.length === 1)
    expect(await settings()).toEqual([{ account: 'acct_quiet', out_of_band: 'ignore' }])
    const choice = page.getByLabel('When the account acct_quiet alerts').first()
    await page.getByRole('link', { name: 'acct_quiet' }).click()
    await page.getByRole('heading', { level: 1, name: 'acct_quiet' }).waitFor()
    await page.getByText('No refund or cancellation was seen yet.').waitFor()
    await page.goBack()
    await choice.click()
    await page.getByRole('option', { name: /^As the connection/ }).click()
    await choice.waitFor({ state: 'detached' })
    expect(await settings()).toEqual([])
  })
})
