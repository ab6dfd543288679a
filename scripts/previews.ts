/**
 * `npm run previews`: writes a preview of every message to .backstop/previews, as HTML, text and JSON, with pictures of
 * them: light, dark and in the width of a phone. `npm run previews -- docs` also renews the pictures in docs/pictures.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Browser, openBrowser } from './previews/browser.ts'
import { findChromium } from './previews/chromium.ts'
import { DOCS_PICTURES } from './previews/docs-pictures.ts'
import { allSamples } from './previews/samples.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, '.backstop/previews')
const DOCS_FOLDER = join(ROOT, 'docs/pictures')

const LOOKS = {
  light: { width: 700, isDark: false },
  dark: { width: 700, isDark: true },
  phone: { width: 375, isDark: false },
  'phone-dark': { width: 375, isDark: true },
} as const

async function takePictures(browser: Browser, pages: readonly string[]): Promise<void> {
  for (const page of pages) {
    for (const [name, look] of Object.entries(LOOKS)) {
      writeFileSync(page.replace(/\.html$/, `.${name}.png`), await browser.takePicture(page, look))
    }
  }
}

async function takeDocsPictures(browser: Browser): Promise<void> {
  mkdirSync(DOCS_FOLDER, { recursive: true })
  for (const { sample, look } of DOCS_PICTURES) {
    const picture = await browser.takePicture(join(FOLDER, `${sample}.html`), LOOKS[look], 'webp')
    writeFileSync(join(DOCS_FOLDER, `${sample}.${look}.webp`), picture)
  }
}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const samples = allSamples()
const pages = samples.flatMap(({ name, text, body, html }) => {
  writeFileSync(join(FOLDER, `${name}.txt`), `${text}\n`)
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(body, null, 2)}\n`)
  if (html === null) return []
  const page = join(FOLDER, `${name}.html`)
  writeFileSync(page, html)
  return [page]
})
const program = await findChromium(process.env)
if (program === null) {
  console.error('No Chromium was found: install one, or name it by CHROMIUM. The HTML files need none.')
  process.exitCode = 1
} else {
  const browser = await openBrowser(program, process.env)
  try {
    await takePictures(browser, pages)
    if (process.argv[2] === 'docs') await takeDocsPictures(browser)
  } finally {
    await browser.close()
  }
}
console.log(
  `${samples.length} messages, ${program === null ? 0 : pages.length * Object.keys(LOOKS).length} pictures: see .backstop/previews`,
)
