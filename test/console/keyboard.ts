/** Uses the console as somebody without a mouse does. */
import type { Locator, Page } from 'playwright-core'

/** More than the controls of any page before the wanted one. */
const MOST_TABS = 60

/** Presses Tab until the control has the focus. @throws Error if it never has it */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor()
  for (let pressed = 0; pressed < MOST_TABS; pressed += 1) {
    if (await control.evaluate(element => element.matches(':focus-visible'))) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${control.toString()}`)
}

/** Moves the focus to a button or a link, and presses Enter. */
export async function pressEnterOn(page: Page, control: Locator): Promise<void> {
  await tabTo(page, control)
  await page.keyboard.press('Enter')
}

/** Moves the focus to a field, and types. */
export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.type(text)
}
