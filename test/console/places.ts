/** Opens places of the console one after another, and finds what keeps people from using them. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Shown while something is read. */
const LOADING = '[aria-busy="true"], .mantine-Skeleton-root'
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

/**
 * Opens a place and waits until it shows its data. A place that has another page than the open one is opened as a link of the console opens
 * it, which takes a tenth of the time of loading the console again.
 */
export async function openPlace(page: Page, path: string): Promise<void> {
  const { pathname } = new URL(page.url())
  const [next = ''] = path.split('?')
  if (isInConsole(pathname) && isInConsole(next) && kindOf(next) !== kindOf(pathname)) await followLink(page, path)
  else await page.goto(path)
  await page.locator('h1:not([data-former])').first().waitFor()
  await page.locator(LOADING).first().waitFor({ state: 'detached' })
}

function isInConsole(path: string): boolean {
  return path.startsWith('/p/') || path.startsWith('/system')
}

/** The path without ids: the page of another incident keeps its elements, so its heading does not show when it is open. */
function kindOf(path: string): string {
  return path.replaceAll(/\/[a-z]+_[^/]+/g, '/:id')
}

async function followLink(page: Page, path: string): Promise<void> {
  await page
    .locator('h1')
    .first()
    .evaluate((heading, to) => {
      heading.setAttribute('data-former', '')
      heading.ownerDocument.defaultView?.history.pushState(null, '', to)
    }, path)
}

/** The violations of WCAG in the page that is open: all of them in light, and those that the colours make in dark. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const inLight = await runAxe(page, { type: 'tag', values: RULES })
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  const inDark = await runAxe(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] })
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  return [...inLight.map(text => `light: ${text}`), ...inDark.map(text => `dark: ${text}`)]
}

async function runAxe(page: Page, runOnly: { type: 'tag' | 'rule'; values: string[] }): Promise<string[]> {
  // The source is half a megabyte. It stays in the page until the console is loaded again.
  const hasAxe = await page.evaluate<boolean>('"axe" in window')
  const builder = new AxeBuilder({ page, ...(hasAxe ? { axeSource: 'undefined' } : {}) })
    // The messages in frames are mails, which have tests of their own. Their frames run no scripts, so axe could not look into them.
    .exclude('iframe')
    // Without the details of what is right, which take most of the time.
    .options({ runOnly, resultTypes: ['violations'] })
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

/** The buttons of the open page outside its filters and tabs, and its links to forms, by their names. */
export function controlsOf(page: Page): Promise<string[]> {
  return page
    .locator('main :is(button, [role="button"]):not(search *, [role="tab"]), main a[href$="/new"]')
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
