/** The questions that people open the console for, and the way to each answer from the overview or from the link in an alert. */
import { patient } from '@backstop/kit/test'
import type { Locator, Page } from 'playwright-core'

/** Where the reader is when the question comes up. */
export interface Starts {
  readonly overview: string
  /** The incident of a refund with a near candidate. */
  readonly incident: string
  /** The incident of a refund of whose maker the provider says the name. */
  readonly named: string
  /** Open incidents that the questions may change. */
  readonly other: string
  readonly another: string
  /** The link of an alert about `incident` that asks for a silence. */
  readonly silence: string
}

export interface Question {
  readonly asks: string
  readonly from: keyof Starts
  /** Resolves when the answer is on the screen. Every click of the reader goes through `click`. */
  answer(page: Page, click: (target: Locator) => Promise<void>): Promise<unknown>
}

export interface Answered extends Pick<Question, 'asks' | 'from'> {
  readonly clicks: number
  /** From opening the page to the answer, without the time that a person needs to read. */
  readonly ms: number
}

/** The link to a place in the navigation. */
export const place = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name, exact: true })
/** A part of a page by its heading. */
export const part = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

/** Asks a question in a fresh page of a signed-in reader. */
export async function askQuestion(page: Page, starts: Starts, { asks, from, answer }: Question): Promise<Answered> {
  let clicks = 0
  const openedAtMs = performance.now()
  await page.goto(starts[from])
  await answer(page, async target => {
    clicks += 1
    await target.click()
  })
  return { asks, from, clicks, ms: Math.round(performance.now() - openedAtMs) }
}

/** The answers that need three clicks, or ten seconds on a usual machine. */
export function slowAnswers(answers: readonly Answered[]): Answered[] {
  return answers.filter(({ clicks, ms }) => clicks >= 3 || ms >= patient(10_000))
}

/** A row of the table of docs/console.md. */
export function rowOf({ asks, from, clicks }: Answered): string {
  return `| ${asks} | ${from === 'overview' ? 'overview' : 'alert'} | ${clicks} |`
}
