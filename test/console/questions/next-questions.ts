/** The questions that people ask next: finance, auditors and those on call. */
import { part, place, type Question } from './question.ts'

export const NEXT_QUESTIONS: readonly Question[] = [
  {
    asks: 'What is unexplained this month and in the month before, by currency?',
    from: 'overview',
    async answer(page, click) {
      await click(place(page, 'Statements'))
      await click(page.getByRole('link', { name: /^Compare with \w+ \d{4}$/ }))
      for (const currency of ['EUR', 'JPY']) {
        const table = page.getByRole('table', { name: new RegExp(`^${currency}`) }).first()
        await table.getByRole('columnheader').nth(3).waitFor()
      }
      await page
        .getByRole('row', { name: /^Unexplained/ })
        .first()
        .waitFor()
    },
  },
  {
    asks: 'Is this the customer who got a refund last week?',
    from: 'incident',
    async answer(page, click) {
      await click(page.getByRole('link', { name: /^\d+ others? of this customer in 30 days$/ }))
      await page.getByRole('heading', { level: 1, name: 'Bruno Lindqvist' }).waitFor()
      await page.getByRole('region', { name: 'Refunds and cancellations' }).getByRole('link').nth(1).waitFor()
    },
  },
  {
    asks: 'Which key or person made it, and what else did they make?',
    from: 'named',
    async answer(page, click) {
      await click(part(page, 'How it was made').getByRole('link').first())
      await page.getByRole('region', { name: 'Refunds and cancellations' }).getByRole('link').first().waitFor()
    },
  },
  {
    asks: 'Was it our support tool or a stranger?',
    from: 'named',
    async answer(page, click) {
      await click(part(page, 'How it was made').getByRole('link').first())
      await page.getByText('First seen').waitFor()
    },
  },
  {
    asks: 'Was every refund of the last quarter checked? A proof for the auditor',
    from: 'overview',
    async answer(page, click) {
      await click(place(page, 'Completeness'))
      await click(page.getByRole('link', { name: /^Q[1-4] \d{4}$/ }))
      await page.getByRole('heading', { level: 1, name: /^Completeness of Q[1-4] \d{4}$/ }).waitFor()
      // The demo is younger than a quarter.
      await page.locator('[data-answer]').or(page.getByText('had no connection in this period')).first().waitFor()
      await page.getByRole('link', { name: 'Download signed' }).waitFor()
    },
  },
  {
    asks: 'Did we miss anything while Backstop was down?',
    from: 'overview',
    async answer(page, click) {
      await click(place(page, 'Completeness'))
      await click(page.getByRole('link', { name: 'yesterday' }))
      await part(page, 'Outages of Backstop').getByRole('listitem').first().waitFor()
    },
  },
  {
    asks: 'Who was told, who looks after it, and who has it?',
    from: 'incident',
    async answer(page) {
      await part(page, 'Alerts sent').getByText('Delivered').first().waitFor()
      await part(page, 'State')
        .getByText(/^(Open|Acknowledged) /)
        .waitFor()
      await part(page, 'Owner').waitFor()
    },
  },
  {
    asks: 'Why was this one not alerted: what explains it?',
    from: 'overview',
    async answer(page, click) {
      await click(page.getByRole('link', { name: /^Explained \d+/ }))
      await click(page.getByRole('region', { name: 'Refunds and cancellations' }).getByRole('link').first())
      const why = page.getByRole('region', { name: 'Why this was not alerted' })
      await why.getByRole('link', { name: /^the operation of your software$|^See the expected changes$/ }).waitFor()
    },
  },
  {
    asks: 'Silence this account for two hours',
    from: 'silence',
    async answer(page, click) {
      await click(page.getByRole('dialog').getByRole('button', { name: 'Begin the silence' }))
      await part(page, 'Alerts sent')
        .getByText(/^No alert about .* is sent until/)
        .waitFor()
    },
  },
  {
    asks: 'It was us: stop it now, and expect it the next time',
    from: 'another',
    async answer(page, click) {
      await click(page.getByRole('button', { name: 'Expect this next time…' }))
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Why').fill('Goodwill after the outage')
      await click(dialog.getByRole('button', { name: 'Create' }))
      await page.getByText(/^Resolved by .*this was us/).waitFor()
    },
  },
]
