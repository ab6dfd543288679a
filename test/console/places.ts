/** Opens places of the console one after another, and finds what keeps people from using them. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Shown while something is read. */
const LOADING = '[aria-busy="true"], .mantine-Skeleton-root'
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

export async function openPlace(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.locator('h1').first().waitFor()
  await page.locator(LOADING).first().waitFor({ state: 'detached' })
}

/** The violations of WCAG in the page that is open: all of them in light, and those that the colours make in dark. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const inLight = await runAxe(page, builder => builder.withTags(RULES))
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  const inDark = await runAxe(page, builder => builder.withRules(['color-contrast', 'link-in-text-block']))
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  return [...inLight.map(text => `light: ${text}`), ...inDark.map(text => `dark: ${text}`)]
}

async function runAxe(page: Page, choose: (builder: AxeBuilder) => AxeBuilder): Promise<string[]> {
  // The messages in frames are mails, which have tests of their own. Their frames run no scripts, so axe could not look into them.
  const builder = choose(new AxeBuilder({ page }).exclude('iframe'))
  const { violations } = await builder.setLegacyMode().analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  )
}

/** The number of pixels by which the open page is wider than a phone. */
export async function pixelsBesidePhone(page: Page): Promise<number> {
  await page.setViewportSize(PHONE)
  // The lists become cards in the next frame.
  await passFrames(page)
  return await page.locator('html').evaluate(html => html.scrollWidth - html.clientWidth)
}

/** The buttons of the open page outside its filters, and its links to forms, by their names. */
export function controlsOf(page: Page): Promise<string[]> {
  return page
    .locator('main :is(button, [role="button"]):not(search *), main a[href$="/new"]')
    .evaluateAll(controls => controls.map(control => control.getAttribute('aria-label') ?? control.textContent))
}

/** Presses keys one after another, and waits until the page has shown what they did. */
export async function pressKeys(page: Page, keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
  await passFrames(page)
}

function passFrames(page: Page): Promise<void> {
  return page.locator('html').evaluate(async ({ ownerDocument: { defaultView } }) => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(resolve => defaultView?.requestAnimationFrame(resolve))
  })
}
