/**
 * `npm run previews`: writes a preview of every message to .backstop/previews, as HTML and text. If Chromium is on the PATH or
 * named by CHROMIUM, it also takes screenshots: light, dark and in the width of a phone.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { slackPage } from '@backstop/channels'
import { mailSamples } from './previews/mail-samples.ts'
import { otherSamples } from './previews/other-samples.ts'
import { slackSamples } from './previews/slack-samples.ts'

const FOLDER = resolve(import.meta.dirname, '../.backstop/previews')
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
/** Height in pixels of the longest sample. */
const HEIGHT = 1_000

const SCREENSHOTS = [
  { name: 'light', width: 800, dark: false },
  { name: 'dark', width: 800, dark: true },
  { name: 'phone', width: 390, dark: false },
  { name: 'phone-dark', width: 390, dark: true },
] as const

function findBrowser(): string | undefined {
  const named = process.env.CHROMIUM
  if (named !== undefined && named !== '') return named
  const folders = (process.env.PATH ?? '').split(delimiter)
  return BROWSERS.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path))
}

/** A page that shows a mail in a frame of this width, because a browser window cannot be as narrow as a phone. */
function framePage(file: string, width: number): string {
  const frame = `${file}.${width}.frame.html`
  writeFileSync(
    frame,
    `<!doctype html><style>body{margin:0}iframe{border:0;width:${width}px;height:${HEIGHT}px}</style><iframe src="${pathToFileURL(file)}"></iframe>`,
  )
  return frame
}

function takeScreenshot(browser: string, file: string, look: (typeof SCREENSHOTS)[number]): boolean {
  const picture = file.replace(/\.html$/, `.${look.name}.png`)
  const frame = framePage(file, look.width)
  const profile = join(FOLDER, '.profile')
  const { status } = spawnSync(
    browser,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--hide-scrollbars',
      // All host names are unknown, so that no logo is fetched and screenshots are the same on every machine.
      '--host-resolver-rules=MAP * ~NOTFOUND',
      `--user-data-dir=${profile}`,
      `--window-size=${look.width},${HEIGHT}`,
      `--blink-settings=preferredColorScheme=${look.dark ? 0 : 1}`,
      `--screenshot=${picture}`,
      pathToFileURL(frame).href,
    ],
    { stdio: 'ignore', timeout: 60_000 },
  )
  rmSync(frame)
  return status === 0 && existsSync(picture)
}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const mails = mailSamples().map(({ name, mail }) => {
  const file = join(FOLDER, `mail.${name}.html`)
  writeFileSync(file, mail.html)
  writeFileSync(file.replace(/\.html$/, '.txt'), `Subject: ${mail.subject}\n\n${mail.text}`)
  return file
})
const slackMessages = slackSamples().map(({ name, message }) => {
  const file = join(FOLDER, `slack.${name}.html`)
  writeFileSync(file, slackPage(message))
  writeFileSync(file.replace(/\.html$/, '.json'), `${JSON.stringify(message, null, 2)}\n`)
  return file
})
const others = otherSamples().flatMap(({ name, preview }) => {
  if (preview.html === null) return []
  const file = join(FOLDER, `${name}.html`)
  writeFileSync(file, preview.html)
  writeFileSync(file.replace(/\.html$/, '.json'), `${JSON.stringify(preview.body, null, 2)}\n`)
  return [file]
})
const files = [...mails, ...slackMessages, ...others]
const browser = findBrowser()
let pictures = 0
if (browser === undefined) {
  console.log('No Chromium was found, so there are no pictures: open the HTML files, or set CHROMIUM to one')
} else {
  for (const file of files) for (const look of SCREENSHOTS) if (takeScreenshot(browser, file, look)) pictures++
  rmSync(join(FOLDER, '.profile'), { recursive: true, force: true })
  if (pictures < files.length * SCREENSHOTS.length) {
    console.error(`${browser} took ${pictures} of ${files.length * SCREENSHOTS.length} pictures`)
    process.exitCode = 1
  }
}
console.log(
  `${mails.length} mails, ${slackMessages.length} Slack messages, ${others.length} other messages and ${pictures} pictures lie in .backstop/previews`,
)
