/** The setup of a connection in the console, its out_of_band setting, and replays of its events. */
import { until } from '@backstop/kit/test'
import { createCardProcessor } from '@backstop/simulator'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openEndpoint } from '../setup/accounts.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleBrowser, ConsoleTab } from './console-browser.ts'
import { pressEnterOn, typeInto } from './keyboard.ts'
import { sharedConsole } from './shared-console.ts'

const EVENT_MS = 120_000
const SIGNING_SECRET = 'whsec_the_secret_that_the_provider_shows'

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let browser: ConsoleBrowser
let tab: ConsoleTab

describe('connections in the console', () => {
  beforeAll(async () => {
    ;({ product, browser } = sharedConsole())
    shop = await openShop(product)
    stops.push(shop.stop)
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    stops.push(() => tab.close())
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(() => {
    expect(tab.faults()).toEqual([])
  })

  const checked = (text: string) =>
    tab.page.getByRole('listitem').filter({ hasText: text }).getByLabel('Done', { exact: true })

  describe('the setup of a connection', () => {
    test('is done by the keyboard alone, and ticks the secret, the first event and the first verdict', async () => {
      const { page } = tab
      await tab.open(`/p/${shop.projectId}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('c')
      await pressEnterOn(page, page.getByRole('link', { name: 'Connect an account' }))
      await typeInto(page, page.getByRole('textbox', { name: 'Name' }), '<b>Cards</b> of Europe')
      await pressEnterOn(page, page.getByRole('button', { name: 'Make its endpoint' }))
      await page.getByRole('heading', { name: '<b>Cards</b> of Europe' }).waitFor()
      await checked('Endpoint made').waitFor()
      expect(await checked('Secret stored').count()).toBe(0)

      await typeInto(page, page.getByLabel('Signing secret of the provider'), SIGNING_SECRET)
      await pressEnterOn(page, page.getByRole('button', { name: 'Store the secret' }))
      await checked('Secret stored').waitFor()

      const connection = await connectionNamed('<b>Cards</b> of Europe')
      const account = createCardProcessor({ now: Date.now, sendsRefundEvents: true, livemode: false })
      const endpoint = openEndpoint('processor', { ...connection, signing_secret: SIGNING_SECRET })
      stops.push(endpoint.stop)
      endpoint.follow(account)
      const { paymentIntent } = account.createPayment({ amount: 5_000, currency: 'eur' })
      account.refund({ payment_intent: paymentIntent.id, amount: 700 })
      await page.getByText('A provider on the internet cannot reach this address.').waitFor()
      await page.getByText(`connectionId: '${connection.connection_id}'`).waitFor()
      expect(await checked('Your software reports').count()).toBe(0)
      const { connection_id } = connection
      const report = { connection_id, kind: 'refund', subject: 'pi_reported', amount: 700, currency: 'eur' }
      await shop.api.post('/v1/operations', { ...report, state: 'executing', idempotency_key: 'first-report' })
      await checked('Your software reports').waitFor({ timeout: EVENT_MS })
      await checked('First event authentic').waitFor({ timeout: EVENT_MS })
      await checked('First verdict').waitFor({ timeout: EVENT_MS })
    })
  })

  describe('out_of_band', () => {
    test('is saved at once from the list, and undone', async () => {
      const { page } = tab
      const { connection_id, name } = shop.connection
      await tab.open(`/p/${shop.projectId}/connections`)
      await page.getByRole('button', { name: `When ${name} alerts: Always` }).click()
      await page.getByRole('menuitem', { name: /^Never/ }).click()
      await settingIs(connection_id, 'ignore')
      await page.getByRole('button', { name: 'Undo' }).click()
      await settingIs(connection_id, 'alert')
      await page.getByRole('button', { name: `When ${name} alerts: Always` }).waitFor()
      expect(new URL(page.url()).pathname).toBe(`/p/${shop.projectId}/connections`)
    })

    test('is shown as chosen while it is saved, and beside that of somebody else who was faster', async () => {
      const { page } = tab
      const { connection_id, name } = shop.connection
      const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
      const url = `**/connections/${connection_id}`
      await tab.open(`/p/${shop.projectId}/connections`)
      const selector = page.getByRole('button', { name: `When ${name} alerts` })
      const chosen = page.getByRole('button', { name: `When ${name} alerts: Never` })
      await page.route(url, async route => {
        if (route.request().method() === 'PATCH') await isReleased
        await route.continue()
      })
      await selector.click()
      await page.getByRole('menuitem', { name: /^Never/ }).click()
      await chosen.waitFor()
      await selector.click()
      expect(await page.getByRole('menuitem', { name: /^Always/ }).isDisabled()).toBe(true)
      await page.keyboard.press('Escape')
      await shop.setOutOfBand('auto')
      release()
      const race = page.getByRole('dialog').getByRole('alert')
      await race.getByText('Alerts: After the first report').waitFor()
      await race.getByText('Alerts: Never').waitFor()
      await race.getByRole('button', { name: 'Apply mine to it' }).click()
      await settingIs(connection_id, 'ignore')
      await chosen.waitFor()
      await page.unroute(url)
      await shop.setOutOfBand('alert')
    })

    test('shows what would have alerted by another setting', async () => {
      const { page } = tab
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 1_250 })
      await shop.alertAbout(refund.id, EVENT_MS)
      await tab.open(`/p/${shop.projectId}/dry-run?connection_id=${shop.connection.connection_id}&out_of_band=ignore`)
      const row = page.getByRole('link').filter({ hasText: payment.paymentIntent.id })
      await row.getByText('Alerted', { exact: true }).waitFor()
      await row.getByText('Does not alert').waitFor()
      await page.getByText('1 alert', { exact: true }).waitFor()
      await page.getByText('0 alerts').waitFor()
      await page.getByText('After the first report', { exact: true }).click()
      await row.getByText('Does not alert').waitFor()
      await page.getByText('With “After the first report”').first().waitFor()
      await page.getByRole('radiogroup').getByText('Always', { exact: true }).click()
      await row.getByText('Alerts', { exact: true }).waitFor()
    })
  })

  describe('a replay', () => {
    test('of a window says how many events fit, and shows its progress until they are decided', async () => {
      const { page } = tab
      const { connection_id } = shop.connection
      const payment = shop.pay()
      shop.endpoint.hold()
      shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 100 })
      await shop.endpoint.release()
      const count = new Set(shop.endpoint.attempts().map(({ eventId }) => eventId)).size
      await until('every event in the inbox', async () => {
        const { data } = await shop.api.get<{ data: unknown[] }>(`/v1/inbox?connection_id=${connection_id}&limit=200`)
        return data.length === count
      })
      await tab.open(`/p/${shop.projectId}/connections/${connection_id}?tab=inbox`)
      await page.getByRole('button', { name: 'Replay a window…' }).click()
      await page.getByText(`${count} events fit.`).waitFor()
      await page.getByRole('button', { name: 'Replay', exact: true }).click()
      await page.getByText(`Replayed ${count} of ${count} events.`).waitFor({ timeout: EVENT_MS })
    })
  })

  test('the burst alarm is switched off and on again on the page of the connection', async () => {
    const { page } = tab
    const { connection_id } = shop.connection
    await tab.open(`/p/${shop.projectId}/connections/${connection_id}`)
    for (const isOn of [false, true]) {
      // The last change is saved when the switch can be used again.
      await until('the switch', () => page.getByRole('switch', { name: 'Warn of bursts' }).isEnabled())
      await page.getByRole('switch', { name: 'Warn of bursts' }).click()
      await until('the stored switch', async () =>
        (await connections()).find(one => one.connection_id === connection_id && one.burst_alarm === isOn),
      )
    }
  })

  describe('the rule about second refunds', () => {
    test('is chosen on the page of the connection; its incident and its dry run name both refunds', async () => {
      const { page } = tab
      const { connection_id } = shop.connection
      await tab.open(`/p/${shop.projectId}/connections/${connection_id}`)
      const rule = page.getByLabel('Second refunds of the same amount').first()
      await rule.click()
      await page.getByRole('option', { name: 'Within a day' }).click()
      await until('the stored rule', async () =>
        (await connections()).find(({ refunded_twice_within_hours }) => refunded_twice_within_hours === 24),
      )
      const subject = shop.pay().paymentIntent.id
      const refunds = await Promise.all(
        [1, 2].map(async () => {
          const { id } = shop.processor.refund({ payment_intent: subject, amount: 333 })
          await shop.report({ subject, amount: 333, currency: 'eur', state: 'completed', provider_ref: id })
          return id
        }),
      )
      const incident = await until(
        'the incident',
        async () =>
          (await shop.incidents()).find(({ refunded_twice }) =>
            refunds.includes(refunded_twice?.earlier.provider_ref ?? ''),
          ),
        { timeoutMs: EVENT_MS },
      )
      await tab.open(`/p/${shop.projectId}/incidents/${incident.incident_id}`)
      await page.getByRole('heading', { name: /Refunded twice: Refund of .*3\.33/ }).waitFor()
      for (const id of refunds) await page.getByRole('link', { name: id }).first().waitFor()
      await page.getByText('No real money moved').waitFor()
      await tab.open(`/p/${shop.projectId}/dry-run?connection_id=${connection_id}&out_of_band=alert`)
      await page.getByText('Second refunds within 24 hours').waitFor()
      await page.getByRole('link', { name: incident.refunded_twice?.earlier.provider_ref ?? '' }).waitFor()
    })
  })

  async function connections(): Promise<(typeof shop.connection)[]> {
    const path = `/v1/projects/${shop.projectId}/connections`
    return (await shop.api.get<{ data: (typeof shop.connection)[] }>(path)).data
  }

  async function connectionNamed(name: string) {
    const found = (await connections()).find(connection => connection.name === name)
    if (found === undefined) throw new Error(`There is no connection ${name}`)
    return found
  }

  function settingIs(connectionId: string, mode: string): Promise<unknown> {
    return until(`out_of_band ${mode}`, async () =>
      (await connections()).find(each => each.connection_id === connectionId && each.out_of_band === mode),
    )
  }
})
