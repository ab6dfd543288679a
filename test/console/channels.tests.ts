/** Channels in the console: the preview beside the form, the test, and alerts that did not arrive. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleBrowser, ConsoleTab } from './console-browser.ts'
import { sharedConsole } from './shared-console.ts'

const ALERT_MS = 240_000
const HOSTILE = '</p><script>alert(1)</script><img src=x onerror=alert(2)><b style="color:red">bold</b>'

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let browser: ConsoleBrowser
let tab: ConsoleTab
let channelPath: string

describe('channels in the console', () => {
  beforeAll(async () => {
    ;({ product, browser } = sharedConsole())
    shop = await openShop(product)
    stops.push(shop.stop)
    const { data } = await shop.api.get<{ data: { channel_id: string }[] }>(
      `/v1/alert-channels?project_id=${shop.projectId}`,
    )
    channelPath = `/p/${shop.projectId}/channels/${data[0]?.channel_id}`
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    stops.push(() => tab.close())
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(() => {
    expect(tab.faults()).toEqual([])
  })

  test('a channel shows the message that is typed, saves it, and shows what the receiver answers to a test', async () => {
    const { page } = tab
    shop.receiver.answerWith(() => ({ kind: 'answer', status: 200, body: 'stored as 4711' }))
    await tab.open(channelPath)
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('"event": "incident.opened"').waitFor()
    await page.getByLabel('Template').fill('{"typed": "just now: {{title}}"}')
    await preview.getByText('"typed": "just now: Unexplained refund of EUR 1,249.90 ·').waitFor()
    await page.getByLabel('Template').fill('{"typed": {{no_such_field}}}')
    await preview.getByText('No alert has a field for {{no_such_field}}').first().waitFor()
    await page.getByLabel('Template').fill('{"typed": "just now: {{title}}"}')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Send a test' }).click()
    const result = page.getByRole('region', { name: 'Test' })
    await result.getByText(/The test arrived, answer 200/).waitFor()
    await result.getByText('stored as 4711').waitFor()
    await page.reload()
    await preview.getByText('"typed": "just now: Unexplained refund').waitFor()
    await page.getByLabel('Template').fill('')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
  })

  test('the mail beside the settings shows a typed look, and markup in it stays text', async () => {
    const { page } = tab
    await tab.open(`/p/${shop.projectId}/settings`)
    const mail = page.frameLocator('iframe[title="The message"]')
    await mail.getByRole('heading', { name: /^Unexplained refund of EUR 1,249\.90/ }).waitFor()
    await page.getByLabel('Name in mails').fill('Acme <i>Alerts</i>')
    await page.getByLabel('Footer').fill(HOSTILE)
    await mail.getByText('Acme <i>Alerts</i>').first().waitFor()
    await mail.getByText(HOSTILE).waitFor()
    expect(await mail.locator('script, img, b[style]').count()).toBe(0)
    await page.getByRole('region', { name: 'Look of the mails' }).getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
    await page.reload()
    await mail.getByText(HOSTILE).waitFor()
  })

  test('an alert that did not arrive is replayed with its window, and retried from its row', async () => {
    const { page } = tab
    const { receiver, processor } = shop
    receiver.answerWith(() => ({ kind: 'answer', status: 500, body: 'database down' }))
    processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 700 })
    await tab.open(`${channelPath}?tab=deliveries`)
    const row = page.getByRole('region', { name: 'Deliveries' }).getByRole('link').first()
    const attemptsInRow = async () => Number(await row.locator('[data-align="end"]').first().textContent())
    await expect.poll(attemptsInRow, { timeout: ALERT_MS }).toBeGreaterThan(0)
    const before = await attemptsInRow()

    await page.getByRole('tab', { name: 'Replays' }).click()
    await page.getByRole('button', { name: 'Replay missed alerts' }).click()
    await page.getByText('Done: 1 sent again').waitFor()
    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await expect.poll(attemptsInRow, { timeout: ALERT_MS }).toBeGreaterThan(before)

    receiver.answerWith(() => ({ kind: 'answer', status: 200, body: 'stored' }))
    await row.getByRole('button', { name: 'Retry' }).click()
    await row.getByText('Delivered').first().waitFor()
    await row.click()
    await page.getByRole('heading', { level: 1, name: 'Unexplained refund of EUR 7.00' }).waitFor()
    await page.getByRole('link', { name: 'Open the incident' }).waitFor()
    const attempts = page.getByRole('article')
    await attempts.first().getByText('Answer 200').waitFor()
    await attempts.last().getByText('database down').waitFor()
  })

  test('a form that is open when the secret is rotated overwrites no change of somebody else', async () => {
    const { page } = tab
    const channelId = channelPath.split('/').at(-1)
    const { name } = await shop.api.get<{ name: string }>(`/v1/alert-channels/${channelId}`)
    await tab.open(channelPath)
    await page.getByLabel('Template').fill('{"typed": "mine"}')
    await shop.api.patch(`/v1/alert-channels/${channelId}`, { name: 'Renamed by somebody else' })
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Generate a new secret' }).click()
    await dialog.getByRole('button', { name: 'Copy the secret' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Save changes' }).click()
    const race = page.getByRole('alert')
    await race.getByText('Renamed by somebody else').waitFor()
    await race.getByText('Change config').waitFor()
    await race.getByRole('button', { name: 'Keep what is there now' }).click()
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue())
      .toBe('Renamed by somebody else')
    await shop.api.patch(`/v1/alert-channels/${channelId}`, { name })
  })

  test('a channel that cannot be switched off says why', async () => {
    const { page } = tab
    const change = '**/v1/alert-channels/*'
    await tab.open(channelPath)
    await page.route(change, route =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 403, json: { title: 'Not for this test', status: 403 } })
        : route.continue(),
    )
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page
      .getByRole('dialog', { name: /was not switched off$/ })
      .getByText('Nothing was changed')
      .waitFor()
    await page.unroute(change)
  })

  test('a channel that is deleted elsewhere says so, and has no button any more', async () => {
    const { page } = tab
    const created = await shop.api.post<{ channel_id: string }>('/v1/alert-channels', {
      ...{ project_id: shop.projectId, name: 'Deleted soon', events: ['incident.opened'] },
      config: { kind: 'email', to: ['nobody@example.com'] },
    })
    await tab.open(`/p/${shop.projectId}/channels/${created.channel_id}`)
    await page.getByRole('button', { name: 'Switch off' }).waitFor()
    await page.getByText('Live updates', { exact: true }).waitFor()
    await shop.api.delete(`/v1/alert-channels/${created.channel_id}`)
    await page.getByText('Deleted', { exact: true }).waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  })

  test('a preview that could not be read is read again by a button', async () => {
    const { page } = tab
    const previews = '**/v1/previews**'
    await page.route(previews, route =>
      route.fulfill({ status: 403, json: { title: 'Not for this test', status: 403 } }),
    )
    await tab.open(`/p/${shop.projectId}/channels/new`)
    const problem = page.getByRole('alert').filter({ hasText: 'This message cannot be shown' })
    await problem.waitFor()
    await page.unroute(previews)
    await problem.getByRole('button', { name: 'Try again' }).click()
    await page.getByTitle('The message').waitFor()
  })
})
