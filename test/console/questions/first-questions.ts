/** The first questions of a person who opens the console. */
import { part, place, type Question } from './question.ts'

export const FIRST_QUESTIONS: readonly Question[] = [
  {
    asks: 'Is everything quiet? If not, what is open, since when, how much money, and who has it?',
    from: 'overview',
    async answer(page) {
      await page.getByRole('heading', { level: 1, name: /\d+ open.*EUR.*unexplained since/ }).waitFor()
      await part(page, 'Unresolved incidents').getByText('Sam (billing)').waitFor()
    },
  },
  {
    asks: 'What happened, to which customer and payment, and how was it made?',
    from: 'incident',
    async answer(page) {
      await part(page, 'What happened').getByText('Bruno Lindqvist').first().waitFor()
      await part(page, 'What happened')
        .getByRole('button', { name: /^Copy pi_/ })
        .waitFor()
      await part(page, 'How it was made')
        .getByText(/API key|dashboard/)
        .first()
        .waitFor()
    },
  },
  {
    asks: 'Why does nothing explain it: which operations came near, and which fact did not match?',
    from: 'incident',
    async answer(page) {
      const row = part(page, 'Why nothing explains it').getByRole('row', { name: /Amount/ })
      await row.getByText('EUR\u00a0129.00').first().waitFor()
      await row.getByText('EUR\u00a01,290.00').waitFor()
    },
  },
  {
    asks: 'It was not us: what do I do now?',
    from: 'incident',
    answer: page => part(page, 'What to do').getByRole('listitem').first().waitFor(),
  },
  {
    asks: 'It was us: say so, so that it resolves',
    from: 'other',
    async answer(page, click) {
      await click(page.getByRole('button', { name: 'This was us' }))
      await click(page.getByRole('dialog').getByRole('button', { name: 'Resolve' }))
      await page.getByText(/^Resolved by .*this was us/).waitFor()
    },
  },
  {
    asks: 'Who got the alert, when, through which channel, and did it arrive?',
    from: 'incident',
    async answer(page) {
      const sent = part(page, 'Alerts sent').getByRole('listitem')
      await sent.filter({ hasText: 'Finance warehouse' }).getByText('Delivered').first().waitFor()
      await sent.filter({ hasText: 'On call' }).getByText('2 attempts').first().waitFor()
    },
  },
  {
    asks: 'Is this connection healthy: last event, refused events, reading, silence?',
    from: 'overview',
    async answer(page, click) {
      await click(place(page, 'Connections'))
      await click(page.getByRole('region', { name: 'Connections' }).getByRole('link', { name: /Memberships/ }))
      await part(page, 'Feed').getByText('Last event').waitFor()
      await part(page, 'Reading the provider').waitFor()
      await part(page, 'Silence').getByText('Not silenced').waitFor()
    },
  },
  {
    asks: 'Why was this refund not alerted?',
    from: 'overview',
    async answer(page, click) {
      await click(page.getByRole('link', { name: /^Not alerted \d+/ }))
      await click(
        page.getByRole('region', { name: 'Refunds and cancellations' }).getByRole('link', { name: /JPY/ }).first(),
      )
      const why = page.getByRole('region', { name: 'Why this was not alerted' })
      await why.getByRole('link', { name: 'See or change the setting of the connection' }).waitFor()
    },
  },
  {
    asks: 'What would have alerted last week by another `out_of_band` setting?',
    from: 'overview',
    async answer(page, click) {
      await click(place(page, 'What would alert'))
      await click(page.getByText('Never', { exact: true }).first())
      await page.getByText('With “Never”').first().waitFor()
      await page
        .getByText(/^\d+ alerts?$/)
        .nth(1)
        .waitFor()
    },
  },
  {
    asks: 'How much was refunded this month by our software, by people and by nobody we know? As a CSV file',
    from: 'overview',
    async answer(page, click) {
      await click(place(page, 'Statements'))
      const rows = page.getByRole('table', { name: 'EUR', exact: true }).getByRole('row')
      for (const line of ['Made by our software', 'Made by people', 'Unexplained']) {
        await rows.filter({ hasText: line }).first().waitFor()
      }
      const download = page.waitForEvent('download')
      await click(page.getByRole('link', { name: 'Download CSV', exact: true }))
      await download
    },
  },
  {
    asks: 'What waits for my approval, and what does it do to which budget?',
    from: 'overview',
    async answer(page, click) {
      await click(page.getByRole('link', { name: '1 operation waits for approval' }))
      await click(page.getByRole('region', { name: 'Approvals' }).getByRole('link').first())
      const decision = page.getByRole('region', { name: 'Approve or decline?' })
      await decision
        .getByText(/If you decline: .* left\. If you approve: /)
        .first()
        .waitFor()
    },
  },
]
