/**
 * `npm run console:open` prints a link that signs in to the console of the running `npm start`, and opens it if this is a terminal of
 * a desktop. Each link signs in once, within five minutes.
 */
import { fileURLToPath } from 'node:url'
import { browserOf, consoleLines, createConsoleLink, openInBrowser } from './start/console-link.ts'
import { createManagementApi } from './start/management-api.ts'
import { readRunOrExit } from './start/run-file.ts'

const { admin, key } = readRunOrExit(fileURLToPath(new URL('../.backstop', import.meta.url)))
const link = await createConsoleLink(createManagementApi(admin, key))
process.stdout.write(`${consoleLines(link).join('\n')}\n`)
const browser = browserOf({ isTTY: process.stdout.isTTY === true, env: process.env, platform: process.platform })
if (browser !== undefined) openInBrowser(browser, link)
