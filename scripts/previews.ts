/**
 * `npm run previews`: writes a preview of every message to .backstop/previews, as HTML, text and JSON, with pictures of
 * them: light, dark and in the width of a phone. `npm run previews -- docs` also renews the pictures of samples in docs/pictures.
 * `npm run previews -- storm` instead runs a storm on the product and renews its pictures there.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { findChromium } from './browser/chromium.ts'
import { DOCS_PICTURES } from './previews/docs-pictures.ts'
import { allSamples } from './previews/samples.ts'
import { runStorm, stormPages } from './previews/storm.ts'
import { pictureOf } from './screens/camera.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, '.backstop/previews')
const DOCS_FOLDER = join(ROOT, 'docs/pictures')

const LOOKS = {
  light: { width: 700, colorScheme: 'light' },
  dark: { width: 700, colorScheme: 'dark' },
  phone: { width: 375, colorScheme: 'light' },
  'phone-dark': { width: 375, colorScheme: 'dark' },
} as const

/** A picture of the whole page. WebP is a third as large, and PNG is exact. */
async function takePicture(
  browser: Browser,
  file: string,
  { width, colorScheme }: (typeof LOOKS)[keyof typeof LOOKS],
  format: 'png' | 'webp' = 'png',
): Promise<Buffer> {
  const viewport = { width, height: 100 }
  const page = await browser.newPage({ viewport, colorScheme })
  await page.goto(pathToFileURL(file).href)
  const picture = format === 'png' ? await page.screenshot({ fullPage: true }) : await pictureOf(page, viewport)
  await page.close()
  return picture
}

async function takePictures(browser: Browser, pages: readonly string[]): Promise<void> {
  for (const page of pages) {
    for (const [name, look] of Object.entries(LOOKS)) {
      writeFileSync(page.replace(/\.html$/, `.${name}.png`), await takePicture(browser, page, look))
    }
  }
}

interface DocsPicture {
  readonly page: string
  readonly look: keyof typeof LOOKS
  readonly file: string
}

async function takeDocsPictures(browser: Browser, pictures: readonly DocsPicture[]): Promise<void> {
  mkdirSync(DOCS_FOLDER, { recursive: true })
  for (const { page, look, file } of pictures) {
    writeFileSync(join(DOCS_FOLDER, file), await takePicture(browser, join(FOLDER, page), LOOKS[look], 'webp'))
  }
}

/** Writes the previews of samples, and returns the files that are pages. */
function writeSamples(): string[] {
  return allSamples().flatMap(({ name, text, body, html }) => {
    writeFileSync(join(FOLDER, `${name}.txt`), `${text}\n`)
    writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(body, null, 2)}\n`)
    return html === null ? [] : [writePage(name, html)]
  })
}

/** Writes the messages of a storm on the product, and returns the files. Messages that an earlier run kept are used again. */
function writeStorm(): string[] {
  const kept = process.env.BACKSTOP_STORM_MESSAGES
  if (kept === undefined) runStorm(ROOT, FOLDER)
  return stormPages(kept ?? FOLDER).map(({ name, html }) => writePage(name, html))
}

function writePage(name: string, html: string): string {
  const page = join(FOLDER, `${name}.html`)
  writeFileSync(page, html)
  return page
}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const [wanted] = process.argv.slice(2)
const pages = wanted === 'storm' ? writeStorm() : writeSamples()
const docsPictures: Record<string, readonly DocsPicture[]> = {
  docs: DOCS_PICTURES.map(({ sample, look }) => ({ page: `${sample}.html`, look, file: `${sample}.${look}.webp` })),
  storm: pages.map(page => ({ page: basename(page), look: 'light', file: `${basename(page, '.html')}.webp` })),
}
const program = await findChromium(process.env)
if (program === null) {
  console.error('No Chromium was found: install one, or name it by CHROMIUM. The HTML files need none.')
  process.exitCode = 1
} else {
  // All host names are unknown, so that no logo is fetched and pictures are the same on every machine.
  const args = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND']
  const browser = await chromium.launch({ executablePath: program, args })
  try {
    await takePictures(browser, pages)
    await takeDocsPictures(browser, docsPictures[wanted ?? ''] ?? [])
  } finally {
    await browser.close()
  }
}
const pictures = program === null ? 0 : pages.length * Object.keys(LOOKS).length
console.log(`${pages.length} pages, ${pictures} pictures: see .backstop/previews`)
