/**
 * `npm run demo:week` adds the project "Example company", with a week of made-up history, to the running `npm start`. `npm start` does
 * this itself the first time; use this command after the project was removed. It runs until Ctrl-C, because it simulates the accounts
 * of the project. Later starts of `npm start` simulate them.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDemoRecords } from './start/demo/demo-records.ts'
import { runDemoWeek, type WeekRecord } from './start/demo/week/run-week.ts'
import { createManagementApi } from './start/management-api.ts'
import { readRunOrExit } from './start/run-file.ts'
import { fingerprintOf, loadOrCreateSecrets } from './start/stored-secrets.ts'

const DATA_DIR = fileURLToPath(new URL('../.backstop', import.meta.url))

const run = readRunOrExit(DATA_DIR)
const secretsFingerprint = fingerprintOf(loadOrCreateSecrets(join(DATA_DIR, 'secrets.json')))
const records = createDemoRecords<WeekRecord>(join(DATA_DIR, 'demo-week.json'), secretsFingerprint)
const api = createManagementApi(run.admin, run.key)
const week = await runDemoWeek({ api, records, again: true })
if (week.kind === 'made') {
  process.stdout.write(
    `Made: ${run.console}p/${week.projectId}. Its incidents open within two minutes. Ctrl-C ends this\n`,
  )
  process.once('SIGINT', () => void week.stop().then(() => process.exit(0)))
  if (await week.whole) process.stdout.write('The week is whole\n')
} else if (week.kind === 'served') {
  process.stdout.write(`The project is there already: ${run.console}p/${week.projectId}\n`)
  await week.stop()
}
