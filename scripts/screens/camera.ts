/** Takes pictures of pages of the console in Chromium, in different looks and states. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { createConsoleLink } from '../start/console-link.ts'
import type { ManagementApi } from '../start/management-api.ts'
import type { Places } from './places.ts'

export const LOOKS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  wide: { viewport: { width: 1920, height: 1080 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', hasTouch: true },
} as const
export type Look = keyof typeof LOOKS

/** `loading`: no answer yet. `error`: every answer is a failure. `stale`: the live updates are lost. */
type State = 'usual' | 'loading' | 'error' | 'stale' | 'print'

export interface Album {
  /** The first part of the names of the pictures. */
  readonly name: string
  readonly places: Places
  readonly looks: readonly Look[]
  readonly state?: State
  /** The rest of a higher page is cut off. */
  readonly maxHeightPx?: number
}

export interface Camera {
  take(album: Album): Promise<void>
  /** The pages that are wider than the screen, and the exceptions of pages. */
  faults(): readonly string[]
  close(): Promise<void>
}

/** The printable part of a page of A4. */
const PAPER = { width: 718, height: 1046 }

/** A longer list shows the same rows again and again. */
const MAX_HEIGHT_PX = 2_400
/** The longest wait for the heading of a page. */
const HEADING_WITHIN_MS = 10_000
/** The wait for the lists of a page on this machine. */
const LISTS_WITHIN_MS = 900

/** @param program the path of Chromium */
export async function openCamera(
  program: string,
  { api, url, folder }: { api: ManagementApi; url: string; folder: string },
): Promise<Camera> {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  const faults: string[] = []
  return {
    async take({ name, places, looks, state = 'usual', maxHeightPx = MAX_HEIGHT_PX }) {
      for (const look of looks) {
        const viewport = state === 'print' ? PAPER : LOOKS[look].viewport
        const page = await openPage(browser, await createConsoleLink(api), { ...LOOKS[look], viewport })
        page.on('pageerror', error => faults.push(`${name} ${look} ${page.url()}: ${error.message}`))
        await enterState(page, state)
        for (const [place, path] of Object.entries(places)) {
          await visit(page, url + path)
          const widthPx = await page.evaluate('document.documentElement.scrollWidth')
          if (Number(widthPx) > viewport.width) faults.push(`${name}.${place}.${look} is ${widthPx} px wide`)
          const picture = await pictureOf(page, viewport, maxHeightPx)
          writeFileSync(join(folder, `${name}.${place}.${look}.webp`), picture)
        }
        await page.context().close()
      }
    },
    faults: () => faults,
    close: () => browser.close(),
  }
}

async function openPage(browser: Browser, link: string, look: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    ...look,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  const page = await context.newPage()
  await page.goto(link)
  await page.waitForURL(address => address.pathname !== '/sign-in')
  return page
}

async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address)
  // The live stream stays open, so the network is never idle: a page is there when its heading is, and its lists soon after.
  await page
    .locator('h1')
    .first()
    .waitFor({ timeout: HEADING_WITHIN_MS })
    .catch(() => {})
  await page.waitForTimeout(LISTS_WITHIN_MS)
}

/** What the frame of each page reads. */
const FRAME = /^\/v1\/(me|projects(\/[^/]+)?)$/
const PROBLEM = {
  status: 503,
  title: 'Dependency unavailable',
  detail: 'MongoDB does not answer. Try again in a minute.',
  code: 'dependency_unavailable',
  request_id: 'req_0123456789abcdefghijklmnop',
}

async function enterState(page: Page, state: State): Promise<unknown> {
  const ofPage = ({ pathname }: URL) => pathname.startsWith('/v1/') && !FRAME.test(pathname)
  switch (state) {
    case 'usual':
      return undefined
    case 'loading':
      return page.route(ofPage, () => {})
    case 'error':
      return page.route(ofPage, route =>
        route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(PROBLEM) }),
      )
    case 'stale':
      return page.route(
        ({ pathname }) => pathname === '/v1/live',
        route => route.abort(),
      )
    case 'print':
      return page.emulateMedia({ media: 'print' })
    default:
      throw state satisfies never
  }
}

/** A picture of the whole page. Playwright itself writes no WebP, which is a third as large as PNG. */
export async function pictureOf(
  page: Page,
  { width, height }: { width: number; height: number },
  maxHeightPx = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const wantedPx = Number(await page.evaluate('document.documentElement.scrollHeight'))
  // The screen becomes as high as the page, so that what sticks to its edges is there in the picture too.
  await page.setViewportSize({ width, height: Math.min(Math.max(wantedPx, height), maxHeightPx) })
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85 })
  await session.detach()
  await page.setViewportSize({ width, height })
  return Buffer.from(data, 'base64')
}
