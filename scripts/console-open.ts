/**
 * `npm run console:open` prints a link that signs in to the console of the running `npm start`, and opens it if this is a terminal of
 * a desktop. Each link signs in once, within five minutes.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { browserOf, consoleLines, createConsoleLink, openInBrowser } from './start/console-link.ts'
import { createManagementApi } from './start/management-api.ts'
import type { RunFile } from './start/run-file.ts'

const RUN_PATH = fileURLToPath(new URL('../.backstop/run.json', import.meta.url))

function readRun(): RunFile {
  try {
    return JSON.parse(readFileSync(RUN_PATH, 'utf8')) as RunFile
  } catch {
    process.stderr.write('Backstop does not run here. Start it in another terminal:  npm start\n')
    process.exit(1)
  }
}

const { admin, key } = readRun()
const link = await createConsoleLink(createManagementApi(admin, key))
process.stdout.write(`${consoleLines(link).join('\n')}\n`)
const browser = browserOf({ isTTY: process.stdout.isTTY === true, env: process.env, platform: process.platform })
if (browser !== undefined) openInBrowser(browser, link)
