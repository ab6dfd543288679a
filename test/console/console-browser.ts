/** Opens the console of a running product in Chromium, and collects everything that went wrong in the page. */
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../scripts/browser/chromium.ts'

export interface ConsoleTab {
  readonly page: Page
  readonly context: BrowserContext
  /**
   * Violations of the Content-Security-Policy, errors in the browser's console, exceptions and answers of 500 and above, since the
   * start or the last call. A test ends with `expect(tab.faults()).toEqual([])`.
   */
  faults(): string[]
  /** Opens a path of the console. */
  open(path: string): Promise<void>
  /** Signs in with an API key on the sign-in page that is open. */
  signIn(key: string): Promise<void>
  /** Signs in with an API key without the sign-in page, so that a test loads no page but its own. */
  startSession(key: string): Promise<void>
  /** Closes the pages, and forgets the session and everything that the console has stored. */
  close(): Promise<void>
}

export interface ConsoleBrowser {
  /** Opens a tab with its own cookies. All tabs of a browser have the same base URL. */
  openTab(baseUrl: string): Promise<ConsoleTab>
  /** Opens a tab whose session has been started. */
  openSignedIn(baseUrl: string, key: string): Promise<ConsoleTab>
  close(): Promise<void>
}

const ARGS = ['--no-sandbox', '--disable-gpu']
const LOOK = {
  viewport: { width: 1280, height: 800 },
  locale: 'en-GB',
  timezoneId: 'Europe/Berlin',
}
const ACTION_MS = 60_000

/** @throws Error if this machine has no Chromium, so that a missing browser fails the run */
export async function openConsoleBrowser(): Promise<ConsoleBrowser> {
  const executablePath = await findChromium(process.env)
  if (executablePath === null) throw new Error('Chromium is missing: install it, or set CHROMIUM to its path')
  const browser = await chromium.launch({ executablePath, args: ARGS })
  // Contexts of closed tabs. A new context compiles the whole console again.
  const idle: BrowserContext[] = []
  const open = async (baseURL: string) => {
    const context = idle.pop() ?? (await browser.newContext({ ...LOOK, baseURL }))
    return await openTab(context, baseURL, () => void idle.push(context))
  }
  return {
    openTab: open,
    async openSignedIn(baseUrl, key) {
      const tab = await open(baseUrl)
      await tab.startSession(key)
      return tab
    },
    close: () => browser.close(),
  }
}

async function openTab(context: BrowserContext, baseURL: string, closed: () => void): Promise<ConsoleTab> {
  const page = await context.newPage()
  page.setDefaultTimeout(ACTION_MS)
  const faults = collectFaults(page)
  return {
    page,
    context,
    faults: () => faults.splice(0),
    async open(path) {
      await page.goto(path)
    },
    async signIn(key) {
      const other = page.getByRole('button', { name: 'Sign in with an API key' })
      await other.or(page.getByLabel('API key')).waitFor()
      // The field comes first only where there is no OpenID Connect provider.
      if (await other.isVisible()) await other.click()
      await page.getByLabel('API key').fill(key)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.waitForURL(url => url.pathname !== '/sign-in')
    },
    async startSession(key) {
      const answer = await context.request.post('/v1/sessions', { data: { key }, headers: { origin: baseURL } })
      if (!answer.ok()) throw new Error(`The sign-in was answered with ${answer.status()}`)
    },
    async close() {
      if (page.url().startsWith(baseURL)) await page.evaluate('localStorage.clear()')
      for (const opened of context.pages()) await opened.close()
      await context.clearCookies()
      closed()
    },
  }
}

/** Chromium reports every answer with an error status. The console shows those below 500 to the reader. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/

function collectFaults(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', error => faults.push(`exception: ${error.message}`))
  // A violation of the Content-Security-Policy is reported here too.
  page.on('console', message => {
    if (message.type() === 'error' && !REFUSED.test(message.text())) faults.push(`console: ${message.text()}`)
  })
  page.on('request', request => {
    const { protocol, origin } = new URL(request.url())
    if (/^https?:$/.test(protocol) && origin !== new URL(page.url()).origin && page.url() !== 'about:blank') {
      faults.push(`request to another origin: ${request.url()}`)
    }
  })
  return faults
}
