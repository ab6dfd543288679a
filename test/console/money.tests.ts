/** The pages about money in the console: why an action was not alerted, the statement of a month, and an approval from its mail. */

import type { AlertChannel } from '@backstop/channels'
import type { ShownBudget, ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { reportAsSoftware } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import type { ConsoleBrowser, ConsoleTab } from './console-browser.ts'
import { AMOUNTS } from './currencies.ts'
import { pressEnterOn, typeInto } from './keyboard.ts'
import { sharedConsole } from './shared-console.ts'

const VERDICT_MS = 240_000
const MAILBOX = `approver-${Date.now().toString(36)}@example.com`

const stops: (() => Promise<void>)[] = []
let product: Product
let shop: Shop
let browser: ConsoleBrowser
let tab: ConsoleTab

describe('money in the console', () => {
  beforeAll(async () => {
    ;({ product, browser } = sharedConsole())
    shop = await openShop(product, { outOfBand: 'ignore' })
    stops.push(shop.stop)
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  afterEach(async () => {
    expect(tab.faults()).toEqual([])
    await tab.close()
  })

  async function openSignedIn(path: string): Promise<void> {
    tab = await browser.openSignedIn(product.urls.admin, product.key)
    await tab.open(path)
  }

  describe('a refund that nothing explains, on a connection that ignores such refunds', () => {
    test('says on its page why it was not alerted, and is found by that reason', async () => {
      const payment = shop.pay()
      shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 12_345 })
      await until('the verdict', async () => (await shop.actions()).some(({ verdict }) => verdict === 'not_alerted'), {
        timeoutMs: VERDICT_MS,
      })

      await openSignedIn(`/p/${shop.projectId}/actions?reason=out_of_band_ignore&currency=eur&min_amount=12345`)
      const { page } = tab
      const rows = page.getByRole('region', { name: 'Refunds and cancellations' }).getByRole('link')
      await rows.filter({ hasText: '123.45' }).click()
      const why = page.getByRole('region', { name: 'Why this was not alerted' })
      await why.getByText('is set to never alert about unexplained changes').waitFor()
      await why.getByRole('link', { name: 'See or change the setting of the connection' }).waitFor()
    })
  })

  describe('the statement of a month', () => {
    test.each([
      ['all connections of the project', () => '', () => ''],
      ['one connection', () => `?connection_id=${shop.connection.connection_id}`, () => shop.connection.connection_id],
    ])('of %s has the numbers of its CSV in its table', async (_, search, connectionId) => {
      await openSignedIn(`/p/${shop.projectId}/statements${search()}`)
      const { page } = tab
      const row = page.getByRole('table', { name: 'EUR' }).getByRole('row', { name: /Made outside of our software/ })
      await row.getByText('EUR\u00a0123.45').waitFor()

      const href = await page.getByRole('link', { name: 'Download CSV', exact: true }).getAttribute('href')
      const csv = await (await page.request.get(String(href))).text()
      const [head = '', ...lines] = csv.trim().split(/\r?\n/)
      const names = head.split(',')
      const exported = lines.map(line => {
        const cells = line.split(',')
        const cell = (name: string) => cells[names.indexOf(name)] ?? ''
        return [cell('connection_id'), cell('category'), cell('kind'), cell('count'), cell('amount')]
      })
      expect(exported).toEqual([[connectionId(), 'out_of_band_ignored', 'refund', '1', '123.45']])
      expect(await row.getByRole('cell').allInnerTexts()).toEqual(['Refund', '1', 'EUR\u00a0123.45'])
    })
  })

  describe('two periods', () => {
    test('of a statement stand side by side by currency', async () => {
      const today = new Date().toISOString().slice(0, 10)
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
      const before = 'with_from=2025-10-01&with_to=2026-01-01'
      await openSignedIn(`/p/${shop.projectId}/statements?from=${today}&to=${tomorrow}&${before}`)
      const table = tab.page.getByRole('table', { name: 'EUR' })
      await table.getByRole('columnheader', { name: 'Q4 2025' }).waitFor()
      const row = table.getByRole('row', { name: /Made outside of our software/ })
      expect(await row.getByRole('cell').allInnerTexts()).toEqual([
        ...['Refund', '1', 'EUR\u00a0123.45'],
        ...['0', 'EUR\u00a00.00'],
      ])

      const file = await tab.page.getByRole('link', { name: 'Download CSV of Q4 2025' }).getAttribute('href')
      const csv = await (await tab.page.request.get(new URL(String(file), tab.page.url()).href)).text()
      expect(csv.trim().split('\n')).toEqual([expect.stringMatching(/category,.*count,/)])
    })

    test('can be proven complete: the page says what was read and judged, and its signed statement is downloaded', async () => {
      await openSignedIn(`/p/${shop.projectId}/completeness?connection_id=${shop.connection.connection_id}`)
      const { page } = tab
      await page.locator('[data-answer]').waitFor()
      await page.getByText('Recorded changes').waitFor()
      const href = await page.getByRole('link', { name: 'Download signed' }).getAttribute('href')
      const { statement, signature } = await (await page.request.get(new URL(String(href), page.url()).href)).json()
      expect(statement.accounts).toHaveLength(1)
      expect(signature).toMatch(/^[\w-]{80,}$/)
    })
  })

  describe('a project with more connections than a page of their list has', () => {
    test('names the connection of the address on its statement and on its dry run', async () => {
      const { connection_id: oldest, name } = shop.connection
      const newest = Array.from({ length: 50 }, (_, at) => ({ kind: 'processor', name: `Account ${at}` }))
      for (const account of newest) await shop.connect(account)
      await openSignedIn(`/p/${shop.projectId}/statements?connection_id=${oldest}`)
      const { page } = tab
      await page.getByText(`${name}. Days begin`).waitFor()
      expect(await page.getByRole('combobox', { name: 'All connections' }).inputValue()).toBe(name)

      await page.goto(`/p/${shop.projectId}/dry-run?connection_id=${oldest}`)
      const choice = page.getByRole('combobox', { name: 'Connection' })
      await choice.waitFor()
      expect(await choice.inputValue()).toBe(name)
    })
  })

  describe('the list of operations', () => {
    test('is filtered by kind, amount, time and the id at the provider, and its download has the same filters', async () => {
      await shop.report({
        subject: 'pi_small',
        amount: 700,
        currency: 'eur',
        provider_ref: 're_small',
        state: 'completed',
      })
      await shop.report({
        subject: 'pi_large',
        amount: 90_000,
        currency: 'eur',
        provider_ref: 're_large',
        state: 'completed',
      })
      await shop.report({ kind: 'cancellation', subject: 'sub_ended', state: 'completed' })

      await openSignedIn(`/p/${shop.projectId}/operations`)
      const { page } = tab
      const rows = page.getByRole('region', { name: 'Operations' }).getByRole('link')
      const shown = () =>
        expect.poll(async () => (await rows.allInnerTexts()).map(text => /pi_\w+|sub_\w+/.exec(text)?.[0]))
      await shown().toEqual(['sub_ended', 'pi_large', 'pi_small'])

      await page.getByRole('button', { name: 'Kind' }).click()
      await page.getByRole('menuitem', { name: 'Refund' }).click()
      await shown().toEqual(['pi_large', 'pi_small'])
      await page.getByRole('button', { name: 'Amount' }).click()
      await page.getByLabel('Currency').fill('EUR')
      await page.getByLabel('At most').fill('10')
      await page.getByRole('button', { name: 'Apply' }).click()
      await shown().toEqual(['pi_small'])
      await page.getByRole('button', { name: 'Download' }).click()
      const href = await page.getByRole('menuitem', { name: /CSV/ }).getAttribute('href')
      const csv = await (await page.request.get(String(href))).text()
      expect(csv.match(/pi_small|pi_large|sub_ended/g)).toEqual(['pi_small'])

      await page.goto(`/p/${shop.projectId}/operations`)
      await page.getByLabel('Refund or cancellation id').fill('re_large')
      await shown().toEqual(['pi_large'])
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
      await page.goto(`/p/${shop.projectId}/operations?from=${tomorrow}`)
      await page.getByText('No operation fits these filters.').waitFor()
    })
  })

  describe('every currency of ISO 4217', () => {
    test('is shown with the digits of the providers', async () => {
      const runs = [AMOUNTS.slice(0, 99), AMOUNTS.slice(99)]
      for (const [at, amounts] of runs.entries()) {
        await Promise.all(
          amounts.map(({ currency, minorUnits }) =>
            shop.report({
              ...{
                subject: `pi_${currency}`,
                amount: minorUnits,
                currency,
                run_id: `currencies-${at}`,
                state: 'completed',
              },
            }),
          ),
        )
        await openSignedIn(`/p/${shop.projectId}/runs/currencies-${at}`)
        const { page } = tab
        await page.getByRole('heading', { name: 'Operations' }).waitFor()
        const shown = ((await page.locator('main').textContent()) ?? '').replaceAll('\u00a0', ' ')
        expect(amounts.filter(({ text }) => !shown.includes(`Refund of ${text}`)).map(({ text }) => text)).toEqual([])
        if (at < runs.length - 1) await tab.close()
      }
    })

    test('is stored as typed, and shown again as stored', async () => {
      const channels = () => shop.api.get<{ data: AlertChannel[] }>(`/v1/alert-channels?project_id=${shop.projectId}`)
      const [channel] = (await channels()).data
      await openSignedIn(`/p/${shop.projectId}/channels/${channel?.channel_id}`)
      const { page } = tab
      await page.getByText('Only some alerts').click()
      const field = page.getByLabel('Smallest amounts')
      await field.fill(AMOUNTS.map(({ text }) => text).join('\n'))
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
      const [stored] = (await channels()).data
      expect(stored?.filter?.minimum_amounts).toEqual(
        Object.fromEntries(AMOUNTS.map(({ currency, minorUnits }) => [currency, minorUnits])),
      )
      await page.reload()
      await field.waitFor()
      expect((await field.inputValue()).split('\n').sort()).toEqual(
        AMOUNTS.map(({ text }) => text.replaceAll(',', '')).sort(),
      )
    })

    test('is filtered and capped by the amount that a person types', async () => {
      await openSignedIn(`/p/${shop.projectId}/operations`)
      const { page } = tab
      await page.getByRole('button', { name: 'Amount' }).click()
      await page.getByLabel('Currency').fill('ISK')
      await page.getByLabel('At least').fill('12345.67')
      await page.getByLabel('At most').fill('12,345.67')
      await page.getByRole('button', { name: 'Apply' }).click()
      const rows = page.getByRole('region', { name: 'Operations' }).getByRole('link')
      await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('pi_isk')])

      await page.goto(`/p/${shop.projectId}/budgets`)
      await page.getByRole('button', { name: 'New budget' }).first().click()
      await page.getByLabel('Name').fill('Iceland')
      await page.getByLabel('Cap').fill('2000')
      await page.getByLabel('Currency').fill('ISK')
      await page.getByRole('button', { name: 'Create' }).click()
      const budget = await until('the budget', async () => {
        const { data } = await shop.api.get<{ data: ShownBudget[] }>(`/v1/budgets?project_id=${shop.projectId}`)
        return data.find(({ name }) => name === 'Iceland')
      })
      expect(budget.cap).toBe(200_000)
      await page.getByText('ISK 2,000.00').first().waitFor()
    })
  })

  describe('an operation that waits for approval', () => {
    test('is opened by the link in the mail after the sign-in, approved once by a double click, and refused to a later decline', async () => {
      await shop.api.patch(`/v1/projects/${shop.projectId}`, { requires_approval: true })
      await shop.api.post('/v1/budgets', {
        ...{
          project_id: shop.projectId,
          name: 'Refunds of the month',
          currency: 'eur',
          cap: 10_000,
          interval: 'month',
        },
      })
      await shop.api.post('/v1/alert-channels', {
        ...{ project_id: shop.projectId, name: 'Approvers', events: ['approval.requested'] },
        config: { kind: 'email', to: [MAILBOX] },
      })
      const asked = await reportBySoftware({
        subject: 'pi_goodwill',
        amount: 2_500,
        currency: 'eur',
        reason: 'Late <b>parcel</b>',
      })
      const link = await until('the link in the mail', () => linkInMail(asked.operation_id), { timeoutMs: VERDICT_MS })

      tab = await browser.openTab(product.urls.admin)
      await tab.open(link)
      await tab.signIn(product.key)
      const { page } = tab
      const decision = page.getByRole('region', { name: 'Approve or decline?' })
      await decision.getByText('Late <b>parcel</b>').waitFor()
      await decision.getByText('If you decline: EUR\u00a0100.00 left. If you approve: EUR\u00a075.00 left.').waitFor()

      const late = await tab.context.newPage()
      await late.goto(page.url())
      const decline = late.getByRole('region', { name: 'Approve or decline?' }).getByRole('button', { name: 'Decline' })
      await decline.waitFor()
      const releaseReads = await holdReads(late)

      await decision.getByRole('button', { name: 'Approve' }).dblclick()
      await page.getByText('A person approved it.').waitFor()
      const { state } = await shop.api.get<ShownOperation>(`/v1/operations/${asked.operation_id}`)
      expect(state).toBe('approved')

      await decline.click()
      const race = late.getByRole('alert').filter({ hasText: 'Somebody changed this while it was open' })
      await race.waitFor()
      releaseReads()
      await race.getByText('Approved by you').waitFor()
      await late.close()
    })
  })

  describe('the keyboard alone', () => {
    test('opens what waits for approval, and approves it with a note', async () => {
      await shop.api.patch(`/v1/projects/${shop.projectId}`, { requires_approval: true })
      const asked = await reportBySoftware({
        subject: 'pi_by_keyboard',
        amount: 1_900,
        currency: 'eur',
        reason: 'Broken cup',
      })
      await openSignedIn(`/p/${shop.projectId}`)
      const { page } = tab
      await page.getByText('Live updates', { exact: true }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('a')
      const row = page.getByRole('region', { name: 'Approvals' }).getByRole('link').filter({ hasText: '19.00' })
      await pressEnterOn(page, row)
      const decision = page.getByRole('region', { name: 'Approve or decline?' })
      await typeInto(page, decision.getByLabel('Note (optional)'), 'Sent a photograph')
      await pressEnterOn(page, decision.getByRole('button', { name: 'Approve' }))
      await page.getByText('A person approved it.').waitFor()
      const { state } = await shop.api.get<ShownOperation>(`/v1/operations/${asked.operation_id}`)
      expect(state).toBe('approved')
    })
  })

  /** Reports with another key than that of the person who approves. */
  const reportBySoftware = (operation: Record<string, unknown>) =>
    reportAsSoftware<ShownOperation>(shop.api, shop.projectId, {
      ...{ connection_id: shop.connection.connection_id, kind: 'refund' },
      ...operation,
    })

  /** Holds every read of an operation, so that the page still shows the state before the decision. @returns a function that lets them pass */
  async function holdReads(page: Page): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/v1/operations/*', async route => {
      await promise
      await route.continue()
    })
    return resolve
  }

  async function linkInMail(operationId: string): Promise<string | undefined> {
    const all = (await (await fetch(`${product.urls.mail}/api/email`)).json()) as {
      to: { address: string }[]
      text: string
    }[]
    const mail = all.find(({ to }) => to.some(({ address }) => address === MAILBOX))
    return mail?.text.split(/\s+/).find(word => word.startsWith('http') && word.includes(operationId))
  }
})
