/** Incidents and storms in the console: they arrive live, two people change one at once, and a whole storm is resolved as one. */
import type { Incident, Silence } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleBrowser, ConsoleTab } from './console-browser.ts'
import { pressEnterOn, tabTo, typeInto } from './keyboard.ts'
import { violationsOf } from './places.ts'
import { sharedConsole } from './shared-console.ts'

const ALERT_MS = 240_000
const STORM_REFUNDS = 12
/** Shown whole, so it is not longer than what the page shows of an idempotency key. */
const HOSTILE = '<img src=x onerror=alert(1)>'

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let browser: ConsoleBrowser
let first: ConsoleTab
let second: ConsoleTab

describe('incidents in the console', () => {
  beforeAll(async () => {
    ;({ product, browser } = sharedConsole())
    // A burst would be the story of its storm.
    shop = await openShop(product, { hasBurstAlarm: false })
    stops.push(shop.stop)
    first = await browser.openSignedIn(product.urls.admin, product.key)
    second = await browser.openSignedIn(product.urls.admin, product.key)
    stops.push(
      () => first.close(),
      () => second.close(),
    )
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(() => {
    // A violation of the Content-Security-Policy is a fault too.
    expect([...first.faults(), ...second.faults()]).toEqual([])
  })

  test('an incident arrives live, and a person who resolves it after another one acknowledged it sees both versions', async () => {
    const [one, two] = [first.page, second.page]
    await first.open(`/p/${shop.projectId}/incidents?state=open`)
    await one.getByText('Live updates', { exact: true }).waitFor()
    shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 12_345 })
    const row = one.getByRole('region', { name: 'Incidents' }).getByRole('link')
    await row.filter({ hasText: '123.45' }).click({ timeout: ALERT_MS })
    await one.getByRole('heading', { name: 'Unexplained refund of EUR 123.45' }).waitFor()

    await second.open(new URL(one.url()).pathname)
    await two.getByRole('button', { name: 'Resolve' }).click()
    const dialog = two.getByRole('dialog')
    await dialog.getByLabel('Mistake of the provider').check()
    await dialog.getByLabel('Note').fill('Ticket 4711')
    await one.getByRole('button', { name: 'Acknowledge' }).click()
    await one
      .getByText(/^Acknowledged by/)
      .first()
      .waitFor()

    await dialog.getByRole('button', { name: 'Resolve' }).click()
    const race = dialog.getByRole('alert')
    await race
      .getByText(/^Acknowledged by/)
      .first()
      .waitFor()
    await race.getByText('Resolve: mistake of the provider. Note: Ticket 4711').waitFor()
    const applied = two.waitForRequest(request => request.url().endsWith('/resolve'))
    await race.getByRole('button', { name: 'Apply mine to it' }).click()
    // For the version that is shown, so that a third person's change is not overwritten unseen.
    expect((await applied).headers()['if-match']).toMatch(/^"\d+"$/)
    await dialog.waitFor({ state: 'hidden' })
    await two
      .getByText(/^Resolved by .*mistake of the provider/)
      .first()
      .waitFor()
    await one
      .getByText(/^Resolved by .*mistake of the provider/)
      .first()
      .waitFor()
  })

  test('markup in the text of a provider is shown as text', async () => {
    const { page } = first
    shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 1_111, idempotencyKey: HOSTILE })
    await first.open(`/p/${shop.projectId}/incidents`)
    const row = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
    await row.filter({ hasText: '11.11' }).click({ timeout: ALERT_MS })
    await page.getByText(HOSTILE, { exact: true }).first().waitFor()
    expect(await page.locator('img, main script').count()).toBe(0)
  })

  test('an incident that was ours is resolved with a rule for the next time, which covers a further refund of the customer', async () => {
    const { page } = second
    const payment_intent = shop.pay().paymentIntent.id
    shop.processor.refund({ payment_intent, amount: 4_321 })
    await second.open(`/p/${shop.projectId}/incidents`)
    const row = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
    await row.filter({ hasText: '43.21' }).click({ timeout: ALERT_MS })
    await page.getByRole('button', { name: 'Expect this next time…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Why').fill('Goodwill by hand')
    expect(await dialog.getByLabel('Refunds', { exact: true }).inputValue()).toMatch(/^Of the same customer, /)
    expect(await dialog.getByLabel('Together at most').inputValue()).toBe('43.21')
    expect(await dialog.getByLabel('Limits apply', { exact: true }).inputValue()).toBe('Each week')
    expect(await dialog.getByLabel('Ends', { exact: true }).inputValue()).toBe('In 90 days')
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page
      .getByText(/^Resolved by .*this was us/)
      .first()
      .waitFor({ timeout: ALERT_MS })

    // The first refund has an explanation of its own, so the whole sum of the week is left for the next one.
    const { id } = shop.processor.refund({ payment_intent, amount: 4_000 })
    await until(
      'the next refund is expected',
      async () => (await shop.actions()).some(one => one.provider_ref === id && one.verdict === 'explained'),
      { timeoutMs: ALERT_MS },
    )
    await second.open(`/p/${shop.projectId}/expected-changes`)
    const changes = page.getByRole('region', { name: 'Expected changes' }).getByRole('link')
    await changes.filter({ hasText: 'EUR\u00a040.00 of EUR\u00a043.21 this week' }).click()
    const uses = page.getByRole('region', { name: 'Covered changes' }).getByRole('link')
    await uses.filter({ hasText: '40.00' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
  })

  test('the connection of an incident is silenced for two hours with two clicks, and from its own page for any time', async () => {
    const { page } = second
    const { connection_id } = shop.connection
    const dialog = page.getByRole('dialog')
    const silenceButton = page.getByRole('button', { name: 'Silence this connection…' })
    const silencedForMs = async () => {
      const path = `/v1/silences?connection_id=${connection_id}&limit=1`
      const [silence] = (await shop.api.get<{ data: Silence[] }>(path)).data
      return silence?.state === 'active' ? Date.parse(silence.ends_at) - Date.parse(silence.created_at) : undefined
    }
    shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 5_432 })
    await second.open(`/p/${shop.projectId}/incidents`)
    const row = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
    await row.filter({ hasText: '54.32' }).click({ timeout: ALERT_MS })
    await silenceButton.click()
    await dialog.getByText(/^Ends /).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Begin the silence' }).click()
    await page.getByText('While we look into: Unexplained refund of EUR 54.32').waitFor()
    expect(await silencedForMs()).toBe(2 * 60 * 60_000)

    const end = async () => {
      await page.getByRole('button', { name: 'End the silence' }).click()
      await dialog.getByRole('button', { name: 'End the silence' }).click()
      await silenceButton.waitFor()
    }
    await end()
    await second.open(`/p/${shop.projectId}/connections/${connection_id}`)
    await silenceButton.click()
    await dialog.getByLabel('For', { exact: true }).fill('45')
    await dialog.getByRole('combobox', { name: 'Unit of time' }).click()
    await page.getByRole('option', { name: 'days' }).click()
    await dialog.getByText('Give at most 30 days').waitFor()
    await dialog.getByRole('combobox', { name: 'Unit of time' }).click()
    await page.getByRole('option', { name: 'minutes' }).click()
    await dialog.getByLabel('Reason').fill('Refund run')
    await dialog.getByRole('button', { name: 'Begin the silence' }).click()
    await page.getByText('“Refund run”').waitFor()
    expect(await silencedForMs()).toBe(45 * 60_000)
    await end()
  })

  test('the links of a message open their dialogs after the sign-in, change nothing by themselves, and say who was first', async () => {
    const { page } = second
    const dialog = page.getByRole('dialog')
    shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 6_543 })
    await second.open(`/p/${shop.projectId}/incidents`)
    const row = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
    await row.filter({ hasText: '65.43' }).click({ timeout: ALERT_MS })
    await page.getByRole('heading', { name: 'Unexplained refund of EUR 65.43' }).waitFor()
    const path = new URL(page.url()).pathname
    const stateOf = async () => (await shop.api.get<Incident>(`/v1${path.slice(path.indexOf('/incidents'))}`)).state

    const visitor = await browser.openTab(product.urls.admin)
    stops.push(() => visitor.close())
    await visitor.open(`${path}?do=acknowledge`)
    await visitor.signIn(product.key)
    const asked = visitor.page.getByRole('dialog')
    await asked.getByRole('button', { name: 'Acknowledge' }).waitFor()
    expect(await stateOf()).toBe('open')
    expect(await violationsOf(visitor.page)).toEqual([])
    await asked.getByRole('button', { name: 'Acknowledge' }).click()
    await visitor.page
      .getByText(/^Acknowledged by/)
      .first()
      .waitFor()
    await asked.waitFor({ state: 'hidden' })
    expect(new URL(visitor.page.url()).search).toBe('')

    await second.open(`${path}?do=acknowledge`)
    await dialog.getByText(/^Somebody was first\. Acknowledged by/).waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

    await second.open(`${path}?do=silence`)
    await dialog.getByRole('button', { name: 'Begin the silence' }).waitFor()
    await dialog.getByText(/^Ends /).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })

    await second.open(`${path}?do=ours`)
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await page
      .getByText(/^Resolved by .*this was us/)
      .first()
      .waitFor()
    await second.open(`${path}?do=silence`)
    await dialog.getByText(/^Somebody was first\. Resolved by/).waitFor()
  })

  test('an incident is found, acknowledged and resolved by the keyboard alone', async () => {
    const { page } = first
    await first.open(`/p/${shop.projectId}`)
    await page.getByText('Live updates', { exact: true }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    const { id } = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 2_222 })
    await shop.alertAbout(id, ALERT_MS)
    const row = page.getByRole('region', { name: 'Incidents' }).getByRole('link').filter({ hasText: '22.22' })
    await row.waitFor()
    await expect
      .poll(async () => {
        await page.keyboard.press('j')
        return await row.evaluate(element => element.matches(':focus-visible'))
      })
      .toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Unexplained refund of EUR 22.22' }).waitFor()
    await page.keyboard.press('a')
    await page
      .getByText(/^Acknowledged by/)
      .first()
      .waitFor()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    expect(await violationsOf(page)).toEqual([])
    await tabTo(page, dialog.getByRole('radio').first())
    // Each arrow chooses the next reason.
    await page.keyboard.press('Space')
    const wanted = dialog.getByLabel('Mistake of the provider')
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowDown')
        return await wanted.isChecked()
      })
      .toBe(true)
    await typeInto(page, dialog.getByLabel('Note'), 'Ticket 4712')
    await pressEnterOn(page, dialog.getByRole('button', { name: 'Resolve' }))
    await page
      .getByText(/^Resolved by .*mistake of the provider/)
      .first()
      .waitFor()
    await dialog.waitFor({ state: 'detached' })
  })

  test('a storm that goes on keeps its rows in view, and “This was us” resolves all of it', async () => {
    const { page } = first
    const refund = (amount: number) => shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount }).id
    const refunds = Array.from({ length: STORM_REFUNDS }, () => refund(2_000))
    await first.open(`/p/${shop.projectId}`)
    const storm = page.getByRole('link', { name: /Storm of \d+ unexplained actions/ })
    await storm.click({ timeout: ALERT_MS })
    // The storm has the incidents before it too, if they are of the same few minutes.
    await page.getByText(/^1\d open/).waitFor({ timeout: ALERT_MS })
    const rows = page.getByRole('region', { name: 'Incidents of the storm' }).getByRole('link')
    const shown = await rows.first().elementHandle()
    refunds.push(refund(3_210))
    await rows.filter({ hasText: '32.10' }).waitFor({ timeout: ALERT_MS })
    expect(await shown?.evaluate(row => row.isConnected)).toBe(true)
    await page.getByRole('heading', { name: 'Alerts sent' }).waitFor()
    const path = new URL(page.url()).pathname
    // In the list of incidents the storm is one row, which counts an incident that joins it and opens its page.
    await first.open(`/p/${shop.projectId}/incidents?state=open`)
    const stormRow = page.getByRole('region', { name: 'Incidents' }).getByRole('link', { name: /Storm of \d+/ })
    await stormRow.waitFor()
    expect(await stormRow.count()).toBe(1)
    const before = await stormRow.textContent()
    refunds.push(refund(4_320))
    await expect.poll(() => stormRow.textContent(), { timeout: ALERT_MS }).not.toBe(before)
    await stormRow.click()
    await page.waitForURL(url => url.pathname === path)

    const dialog = page.getByRole('dialog')
    await first.open(`${path}?do=silence`)
    await dialog.getByRole('button', { name: 'Begin the silence' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await first.open(`${path}?do=acknowledge`)
    await dialog.getByRole('button', { name: 'Acknowledge' }).waitFor()
    expect(await shop.api.get(`/v1${path.slice(path.indexOf('/storms'))}`)).toMatchObject({ state: 'open' })
    await dialog.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText(/^0 open, 1\d acknowledged/).waitFor({ timeout: ALERT_MS })
    await dialog.waitFor({ state: 'hidden' })
    await first.open(`${path}?do=acknowledge`)
    await dialog.getByText(/^Somebody was first\. Acknowledged by/).waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

    await page.getByRole('button', { name: 'This was us' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText(/^0 open, 0 acknowledged/).waitFor({ timeout: ALERT_MS })
    await first.open(`/p/${shop.projectId}/incidents?state=open`)
    await page.getByText('No incident fits these filters').waitFor()
    await first.open(`/p/${shop.projectId}/incidents`)
    await stormRow.waitFor()
    expect(await page.getByRole('button', { name: /all…$/ }).count()).toBe(0)

    await first.open(`/p/${shop.projectId}/storms`)
    const storms = page.getByRole('region', { name: 'Storms' }).getByRole('link')
    await storms.first().waitFor()
    await page.getByRole('button', { name: 'Connection' }).click()
    await page.getByRole('menuitem', { name: shop.connection.name }).click()
    await page.waitForURL(url => url.searchParams.has('connection_id'))
    await storms.first().waitFor()
    await first.open(`/p/${shop.projectId}/storms?connection_id=con_none`)
    await page.getByText('This connection has had no storm.').waitFor()
    await until(
      'all actions of the storm explained',
      async () => {
        const verdicts = new Map((await shop.actions()).map(({ provider_ref, verdict }) => [provider_ref, verdict]))
        return refunds.every(id => verdicts.get(id) === 'explained')
      },
      { timeoutMs: ALERT_MS },
    )
  })
})
