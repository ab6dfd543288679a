/** The console on paper, where nothing can be hovered and nobody knows when it was printed; and a project whose name is as long as allowed. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleTab } from './console-browser.ts'
import { sharedConsole } from './shared-console.ts'

const ALERT_MS = 240_000
/** One word, because it cannot be broken at a space. */
const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(6).slice(0, 200)
/** The printable part of a page of A4. */
const PAPER = { width: 718, height: 1046 }

const stops: (() => Promise<void>)[] = []
let shop: Shop
let tab: ConsoleTab

describe('on paper', () => {
  beforeAll(async () => {
    const { product, browser } = sharedConsole()
    shop = await openShop(product)
    stops.push(shop.stop)
    await shop.api.patch(`/v1/projects/${shop.projectId}`, { name: LONG_NAME })
    const refund = { payment_intent: shop.pay().paymentIntent.id, amount: 5_432 }
    await shop.alertAbout(shop.processor.refund(refund).id, ALERT_MS)
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    stops.push(() => tab.close())
  }, ALERT_MS + 30_000)
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(() => {
    expect(tab.faults()).toEqual([])
  })

  test('an incident takes one page, and has exact times, its project and the time of the print', async () => {
    const { page } = tab
    const [incident] = await shop.incidents()
    await tab.open(`/p/${shop.projectId}/incidents/${incident?.incident_id}`)
    await page.getByRole('heading', { name: 'Unexplained refund of EUR 54.32' }).waitFor()
    await page.getByText('Delivered', { exact: true }).waitFor()
    await putOnPaper(page)
    const main = page.getByRole('main')
    expect((await main.allInnerTexts()).join()).not.toMatch(/just now|\bago\b/)
    const shown = await main
      .locator('time')
      .evaluateAll(times =>
        times.map(time => time.ownerDocument.defaultView?.getComputedStyle(time, '::after').content ?? ''),
      )
    expect(shown.length).toBeGreaterThan(3)
    for (const text of shown) expect(text).toMatch(/\d \w+ 20\d\d, \d\d:\d\d:\d\d /)
    expect(
      pagesOf(await page.pdf({ format: 'A4', margin: { top: '1cm', bottom: '1cm', left: '1cm', right: '1cm' } })),
    ).toBe(1)
  })

  test('a statement names its project and the time of the print', async () => {
    await tab.open(`/p/${shop.projectId}/statements`)
    await tab.page.getByRole('table', { name: 'EUR' }).waitFor()
    await putOnPaper(tab.page)
  })

  test('a long name stays within the list of projects', async () => {
    const { page } = tab
    await page.emulateMedia({ media: 'screen' })
    await tab.open(`/p/${shop.projectId}`)
    await page.getByRole('button', { name: /switch project$/ }).click()
    const item = page.getByRole('menuitem', { name: LONG_NAME })
    expect((await item.boundingBox())?.width).toBeLessThan(250)
    expect(await item.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  })
})

/** Shows the open page as it is printed, and checks what each printed page of a project has. */
async function putOnPaper(page: Page): Promise<void> {
  await page.setViewportSize(PAPER)
  await page.emulateMedia({ media: 'print' })
  const head = page.getByRole('main').locator('p').first()
  await head.getByText(LONG_NAME).waitFor()
  await head.getByText(/^Printed \d+ \w+ 20\d\d, \d\d:\d\d:\d\d /).waitFor()
  expect(await page.locator('html').evaluate(html => html.scrollWidth - html.clientWidth)).toBe(0)
}

/** The number of pages of a PDF of Chromium. */
function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
}
