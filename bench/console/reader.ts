/** A reader of the console in Chromium, who measures inside the page what a person would notice. */
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../scripts/browser/chromium.ts'
import { createConsoleLink } from '../../scripts/start/console-link.ts'
import type { ManagementApi } from '../../scripts/start/management-api.ts'
import { percentile } from '../frame/statistics.ts'

interface Place {
  readonly path: string
  /** A selector of the content that the reader came for. */
  readonly shown: string
}

export interface ConsoleReader {
  /** Opens a place with an empty cache. @returns milliseconds from the navigation to its content */
  timeOpening(place: Place): Promise<number>
  /** Goes from one place to another by the navigation, twice. @returns the milliseconds from each click to the frame with the content */
  timeChanges(from: Place, to: Place): Promise<[first: number, again: number]>
  /** Loads this many rows of a list, and scrolls through all of them. @returns the times between two frames */
  scroll(list: Place, rows: number): Promise<{ p99Ms: number; longestMs: number }>
  /**
   * The memory of an open list, without garbage, before and after live updates.
   * @param update gives a row in view the amount `amountOf(index)`
   */
  growthOver(
    list: Place,
    updates: number,
    update: (index: number) => Promise<void>,
  ): Promise<{ beforeMb: number; afterMb: number }>
  close(): Promise<void>
}

const WITHIN_MS = 60_000
const ROW_PX = 40
const SCROLL_MS = 20_000
const MB = 1_000_000
/** The updates before the first look at the memory: code that runs for the first time needs memory too. */
const WARM_UP = 300
/** The time of a hand between pointing at a link and pressing. The console loads the code of the page meanwhile. */
const HAND_MS = 150
/** Updates that are written before the page must show the last one. Two changes of one row could be one event. */
const AT_ONCE = 10

/** @throws Error if this machine has no Chromium */
export async function openReader(api: ManagementApi, url: string): Promise<ConsoleReader> {
  const executablePath = await findChromium(process.env)
  if (executablePath === null) throw new Error('Chromium is missing: install it, or set CHROMIUM to its path')
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--js-flags=--expose-gc'],
  })
  const signIn = await browser.newContext()
  const first = await signIn.newPage()
  await first.goto(await createConsoleLink(api))
  await first.waitForURL(address => address.pathname !== '/sign-in')
  const storageState = await signIn.storageState()
  await signIn.close()

  /** Does something in a new page with an empty cache. */
  async function inPage<T>(act: (page: Page, context: BrowserContext) => Promise<T>): Promise<T> {
    const context = await browser.newContext({ storageState, baseURL: url, viewport: { width: 1280, height: 800 } })
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(WITHIN_MS)
      return await act(page, context)
    } finally {
      await context.close()
    }
  }

  return {
    timeOpening: place => inPage(page => open(page, place)),
    timeChanges: (from, to) =>
      inPage(async page => {
        await open(page, from)
        const firstMs = await goTo(page, to)
        await goTo(page, from)
        return [firstMs, await goTo(page, to)]
      }),
    scroll: (list, rows) =>
      inPage(async page => {
        await open(page, list)
        await loadRows(page, rows)
        const frames = await page.evaluate<number[]>(scrollScript(rows * ROW_PX))
        return { p99Ms: percentile(frames, 0.99), longestMs: Math.max(...frames) }
      }),
    growthOver: (list, updates, update) =>
      inPage(async (page, context) => {
        await open(page, list)
        await page.getByText('Live updates', { exact: true }).waitFor()
        const session = await context.newCDPSession(page)
        const heapMb = async () => {
          await session.send('HeapProfiler.collectGarbage')
          return (await session.send('Runtime.getHeapUsage')).usedSize / MB
        }
        const run = async (from: number, to: number) => {
          for (let at = from; at < to; at += AT_ONCE) {
            for (let index = at; index < at + AT_ONCE; index++) await update(index)
            await waitForUpdate(page, at + AT_ONCE - 1)
          }
        }
        await run(0, WARM_UP)
        const beforeMb = await heapMb()
        await run(WARM_UP, WARM_UP + updates)
        return { beforeMb, afterMb: await heapMb() }
      }),
    close: () => browser.close(),
  }
}

async function open(page: Page, { path, shown }: Place): Promise<number> {
  await page.goto(path, { waitUntil: 'commit' })
  return page.evaluate<number>(`(async () => {
    ${WAIT}
    await untilShown(${JSON.stringify(shown)})
    return performance.now()
  })()`)
}

async function goTo(page: Page, { path, shown }: Place): Promise<number> {
  await page.hover(`nav a[href="${path}"]`)
  await page.waitForTimeout(HAND_MS)
  return page.evaluate<number>(`(async () => {
    ${WAIT}
    const fromMs = performance.now()
    document.querySelector(${JSON.stringify(`nav a[href="${path}"]`)}).click()
    await untilShown(${JSON.stringify(shown)}, ${JSON.stringify(path)})
    return performance.now() - fromMs
  })()`)
}

/** Waits for an element, and then until the frame that contains it was painted. */
const WAIT = `
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve))
  const untilShown = async (shown, path) => {
    const endMs = performance.now() + ${WITHIN_MS}
    while ((path !== undefined && location.pathname !== path) || document.querySelector(shown) === null) {
      if (performance.now() > endMs) throw new Error('Nothing is shown: ' + shown)
      await frame()
    }
    await frame()
  }`

/** The list reads its next page when its end comes into view. */
async function loadRows(page: Page, rows: number): Promise<void> {
  await page.evaluate(`(async () => {
    const endMs = performance.now() + ${WITHIN_MS * 3}
    while (document.documentElement.scrollHeight < ${rows * ROW_PX}) {
      if (performance.now() > endMs) throw new Error('The list has too few rows')
      scrollTo(0, document.documentElement.scrollHeight)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    scrollTo(0, 0)
    await new Promise(resolve => setTimeout(resolve, 1_000))
  })()`)
}

/** Scrolls from the top by the same distance in each millisecond. @returns the time of each frame */
function scrollScript(distancePx: number): string {
  return `new Promise(resolve => {
    const frames = []
    let startMs, lastMs
    const step = nowMs => {
      if (lastMs === undefined) startMs = nowMs
      else frames.push(nowMs - lastMs)
      lastMs = nowMs
      scrollTo(0, ((nowMs - startMs) / ${SCROLL_MS}) * ${distancePx})
      if (nowMs - startMs < ${SCROLL_MS}) requestAnimationFrame(step)
      else resolve(frames)
    }
    requestAnimationFrame(step)
  })`
}

async function waitForUpdate(page: Page, index: number): Promise<void> {
  const text = `EUR ${(amountOf(index) / 100).toFixed(2)}`
  await page.locator('[data-index]').filter({ hasText: text }).first().waitFor()
}

/** The amount in cents by which an update is recognised. */
export function amountOf(index: number): number {
  return 100 + index
}
