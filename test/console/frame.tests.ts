/** The frame of the console: signing in with an API key, a link or OpenID Connect, what stays open after a reload, live rows, the keyboard and the search. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import type { LocalProvider } from '../../services/admin-api/test/local-provider.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleBrowser, ConsoleTab } from './console-browser.ts'
import { sharedConsole } from './shared-console.ts'

const ALERT_MS = 240_000

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let browser: ConsoleBrowser
let tab: ConsoleTab
let provider: LocalProvider

describe('the frame of the console', () => {
  beforeAll(async () => {
    ;({ product, browser, provider } = sharedConsole())
    shop = await openShop(product)
    stops.push(shop.stop)
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(async () => {
    expect(tab.faults()).toEqual([])
    await tab.close()
  })

  describe('a sign-in with an API key', () => {
    test('opens the page that was asked for, where an incident arrives live and stays after a reload', async () => {
      tab = await browser.openTab(product.urls.admin)
      const { page } = tab
      const path = `/p/${shop.projectId}/incidents?state=open`
      await tab.open(path)
      await page.getByRole('heading', { name: 'Sign in to Backstop' }).waitFor()
      await tab.signIn(product.key)
      await page.getByText('No incident fits these filters').waitFor()
      await page.getByText('Live updates', { exact: true }).waitFor()

      const payment = shop.pay()
      shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 12_345 })
      const row = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
      await row.filter({ hasText: '123.45' }).waitFor({ timeout: ALERT_MS })

      await page.reload()
      await row.filter({ hasText: '123.45' }).waitFor()
      await page.getByRole('button', { name: 'State: Open' }).waitFor()
      expect(page.url()).toContain(path)
    })

    test('says why a wrong key is refused', async () => {
      tab = await browser.openTab(product.urls.admin)
      const { page } = tab
      await tab.open('/sign-in')
      // People sign in with their organisation, so the field for a key is asked for.
      await page.getByRole('link', { name: 'Sign in with your organisation' }).waitFor()
      expect(await page.getByLabel('API key').count()).toBe(0)
      await page.getByRole('button', { name: 'Sign in with an API key' }).click()
      await page.getByLabel('API key').fill('bsk_not_a_key')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('alert').getByText('The sign-in was refused').waitFor()
      await page
        .getByRole('alert')
        .getByText(/^Request/)
        .waitFor()
    })

    test('is needed again when the session was ended elsewhere, and then returns to the page', async () => {
      tab = await browser.openSignedIn(product.urls.admin, product.key)
      const { page, context } = tab
      await tab.open(`/p/${shop.projectId}/connections`)
      await page.getByRole('heading', { name: 'Connections' }).waitFor()
      await context.clearCookies()
      // The open page may notice the end of its session before the keys.
      await page.keyboard.press('g')
      await page.keyboard.press('i')
      await page.getByText('Your session has ended.').waitFor()
      await tab.signIn(product.key)
      await page.getByRole('heading', { name: /^(Connections|Incidents)$/ }).waitFor()
      await context.clearCookies()
      // Not by a click, because the open page may notice the end of its session before it.
      await tab.open(`/p/${shop.projectId}/incidents`)
      await page.getByRole('heading', { name: 'Sign in to Backstop' }).waitFor()
      await tab.signIn(product.key)
      await page.getByRole('heading', { name: 'Incidents' }).waitFor()
      await context.clearCookies()
      await tab.open(`/p/${shop.projectId}/incidents/inc_0000000000000000000000000`)
      await page.getByText('The link opens an incident').waitFor()
      expect(await page.getByText('Your session has ended').count()).toBe(0)
    })
  })

  describe('the live stream', () => {
    test('shows an incident that opened after its list was read and before the stream was open', async () => {
      tab = await browser.openSignedIn(product.urls.admin, product.key)
      const { page } = tab
      const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/v1/live?*', async route => {
        await isReleased
        await route.continue()
      })
      await tab.open(`/p/${shop.projectId}/incidents`)
      const list = page.getByRole('region', { name: 'Incidents' })
      await list.and(page.locator('[aria-busy="false"]')).waitFor()
      const { id } = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 31_415 })
      await shop.alertAbout(id, ALERT_MS)
      expect(await list.getByText('314.15').count()).toBe(0)
      release()
      await list.getByText('314.15').waitFor()
    })

    test('shows on the overview an incident that opened while another page was open', async () => {
      tab = await browser.openSignedIn(product.urls.admin, product.key)
      const { page } = tab
      await tab.open(`/p/${shop.projectId}`)
      await page.getByText('Live updates', { exact: true }).waitFor()
      await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Overview' }).waitFor()
      const places = page.getByRole('navigation', { name: 'Places' })
      await places.getByRole('link', { name: 'Incidents' }).click()
      const { id } = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 16_180 })
      await page.getByRole('region', { name: 'Incidents' }).getByText('161.80').waitFor({ timeout: ALERT_MS })
      await shop.alertAbout(id, ALERT_MS)
      await places.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('region', { name: 'Incidents' }).waitFor({ state: 'detached' })
      await page.getByText('161.80').first().waitFor()
    })
  })

  describe('a sign-in link', () => {
    test('signs in once, opens the page that it names, and leaves no token in the address', async () => {
      const { url } = await shop.api.post<{ url: string }>('/v1/sign-in-links', {})
      const link = new URL(url)
      link.searchParams.set('return_to', `/p/${shop.projectId}/channels`)
      tab = await browser.openTab(product.urls.admin)
      const { page } = tab
      await tab.open(link.href)
      await page.getByRole('heading', { name: 'Channels' }).waitFor()
      expect(page.url()).not.toContain('#')

      await tab.context.clearCookies()
      await tab.open(link.href)
      await page.getByRole('alert').getByText('The sign-in was refused').waitFor()
    })

    test('opens no page of another site', async () => {
      const { url } = await shop.api.post<{ url: string }>('/v1/sign-in-links', {})
      const link = new URL(url)
      link.searchParams.set('return_to', '//evil.example/')
      tab = await browser.openTab(product.urls.admin)
      await tab.open(link.href)
      await tab.page.waitForURL(address => address.pathname.startsWith('/p/'))
      expect(new URL(tab.page.url()).origin).toBe(product.urls.admin)
    })
  })

  describe('the keyboard', () => {
    test('goes to a page, opens a row, and finds the row again on the way back', async () => {
      tab = await browser.openSignedIn(product.urls.admin, product.key)
      const { page } = tab
      await tab.open(`/p/${shop.projectId}`)
      await page.getByText('Live updates', { exact: true }).waitFor()
      await page.keyboard.type('gi')
      await page.getByRole('heading', { name: 'Incidents', exact: true }).waitFor()
      const rows = page.getByRole('region', { name: 'Incidents' }).getByRole('link')
      await rows.first().waitFor()
      await page.keyboard.press('j')
      expect(await rows.first().evaluate(row => row === row.ownerDocument.activeElement)).toBe(true)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/incidents\/inc_/)
      await page.goBack()
      await rows.first().waitFor()
      await expect.poll(() => rows.first().evaluate(row => row === row.ownerDocument.activeElement)).toBe(true)

      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).getByText('g i').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    })

    test('has the row that was opened again on the way back, also far down in a list', async () => {
      for (let made = 0; made < 60; made += 1)
        await shop.report({ subject: `pi_far_${made}`, amount: 100 + made, currency: 'eur' })
      tab = await browser.openSignedIn(product.urls.admin, product.key)
      const { page } = tab
      await tab.open(`/p/${shop.projectId}/operations`)
      const row = page.getByRole('link').filter({ has: page.getByText('pi_far_5', { exact: true }) })
      await page.getByText('pi_far_59').waitFor()
      await page.mouse.wheel(0, 20_000)
      await row.click()
      await page.waitForURL(/\/operations\/op/)
      await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor()
      await page.goBack()
      await row.and(page.locator(':focus')).waitFor()
      expect(await row.evaluate(({ ownerDocument: { defaultView } }) => defaultView?.scrollY)).toBeGreaterThan(500)
    })

    test('finds an incident by an id of the provider, a delivery by its id, and a page by its name', async () => {
      tab = await browser.openSignedIn(product.urls.admin, product.key)
      const { page } = tab
      const payment = shop.pay()
      const { id } = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 777 })
      await tab.open(`/p/${shop.projectId}/incidents`)
      await page.getByText('7.77').waitFor({ timeout: ALERT_MS })
      await page.keyboard.press('Control+k')
      const field = page.getByRole('combobox', { name: 'Find an id, amount, customer, actor or page' })
      await field.fill(id)
      await page.getByRole('option').filter({ hasText: 'action' }).first().click()
      await page.waitForURL(/\/actions\/act_/)

      await shop.alertAbout(id, ALERT_MS)
      const deliveries = await shop.api.get<{ data: { delivery_id: string }[] }>(
        `/v1/deliveries?project_id=${shop.projectId}`,
      )
      await page.keyboard.press('Control+k')
      await field.fill(deliveries.data[0]?.delivery_id ?? '')
      await page.getByRole('option').filter({ hasText: 'Delivery of' }).click()
      await page.getByRole('heading', { name: 'Attempts' }).waitFor()

      await page.keyboard.press('Control+k')
      await field.fill('budg')
      await field.press('Enter')
      await page.getByRole('heading', { name: 'Budgets' }).waitFor()
    })
  })

  test('the next rows of a list that could not be read are asked for once, and again by a button', async () => {
    // Other operations than those of a former attempt of this test, and short enough to be shown whole.
    const subject = `pi_${Date.now() % 1_000_000}`
    for (let made = 0; made < 60; made += 1)
      await shop.report({ subject: `${subject}_${made}`, amount: 100 + made, currency: 'eur' })
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    const { page } = tab
    const nextPage = /\/v1\/operations\?.*cursor=/
    let asked = 0
    await page.route(nextPage, async route => {
      asked += 1
      await route.fulfill({ status: 403, json: { title: 'Not for this test', status: 403 } })
    })
    await tab.open(`/p/${shop.projectId}/operations`)
    await page.getByText(`${subject}_59`).waitFor()
    await page.mouse.wheel(0, 20_000)
    const problem = page.getByRole('alert').filter({ hasText: 'The next rows could not be read' })
    await problem.waitFor()
    await page.mouse.wheel(0, -20_000)
    await page.getByText(`${subject}_59`).waitFor()
    expect(asked).toBe(1)
    await page.unroute(nextPage)
    await problem.getByRole('button', { name: 'Try again' }).click()
    await problem.waitFor({ state: 'detached' })
    // The list keeps only the rows near the screen in the document.
    const oldest = page.getByText(`${subject}_0`, { exact: true })
    const scrollOn = async () => {
      await page.mouse.wheel(0, 100)
      return await oldest.isVisible()
    }
    await expect.poll(scrollOn).toBe(true)
  })

  test('a page whose code cannot be loaded leaves the navigation, and is opened by a button', async () => {
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    const { page } = tab
    const code = '**/assets/budget-list-*.js'
    await page.route(code, route => route.fulfill({ status: 404 }))
    await tab.open(`/p/${shop.projectId}/budgets`)
    const problem = page.getByRole('alert').filter({ hasText: 'This page failed' })
    await problem.waitFor()
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Incidents' }).waitFor()
    await page.unroute(code)
    await problem.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Budgets' }).waitFor()
    // The browser and React report the missing file.
    tab.faults()
  })

  test('a page that is not there says so, and an unknown id of an alert too', async () => {
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    const { page } = tab
    await tab.open('/nowhere')
    await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
    await tab.open('/incidents/inc_0000000000000000000000000')
    await page
      .getByRole('alert')
      .getByText(/could not be read/)
      .waitFor()
  })

  describe('a sign-in with the OpenID Connect provider', () => {
    /** Follows the button of the sign-in page to the provider, which leads back at once. */
    async function signInAs(subject: string, groups: string[], path: string): Promise<void> {
      provider.people.set(subject, { name: 'Nora Provider', groups })
      provider.signsIn = subject
      tab = await browser.openTab(product.urls.admin)
      await tab.open(path)
      await tab.page.getByRole('link', { name: 'Sign in with your organisation' }).click()
    }
    /** The requests to the provider are no faults. */
    const otherFaults = () => tab.faults().filter(fault => !fault.includes(provider.issuer))

    test('opens the page that was asked for, with the role of the groups', async () => {
      const path = `/p/${shop.projectId}/channels`
      await signInAs('nora', ['finance'], path)
      await tab.page.getByRole('heading', { name: 'Channels' }).waitFor()
      await tab.page.getByRole('button', { name: 'Nora Provider' }).waitFor()
      expect(tab.page.url()).toBe(product.urls.admin + path)
      expect(await tab.page.getByRole('link', { name: 'New channel' }).count()).toBe(0)
      expect(otherFaults()).toEqual([])
    })

    test('says what to do if no group of the person has a role', async () => {
      await signInAs('otto', ['visitors'], '/sign-in')
      await tab.page.getByRole('heading', { name: /^You are not signed in/ }).waitFor()
      await tab.page.getByText(/None of your groups has a role in Backstop; ask an administrator/).waitFor()
      await tab.page.getByRole('link', { name: 'Sign in again' }).waitFor()
      expect(otherFaults()).toEqual([])
    })
  })
})
