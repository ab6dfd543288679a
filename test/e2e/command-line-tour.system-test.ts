/** Runs the tour of docs/cli.md as it is written, in a shell, beside `npm start` with its whole demo. */
import { spawn } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LauncherUnderTest, startLauncher } from '../launcher/launcher-under-test.ts'
import { dataFolder, givenStack } from '../setup/product.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Long enough for `tail` to connect before the incident opens. */
const RECHECK_DELAY_MS = 15_000

let folder: string
let launcher: LauncherUnderTest
beforeAll(async () => {
  folder = dataFolder('tour')
  // `npx backstop` finds the program of the clone, and never asks a registry for another one of this name.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  launcher = startLauncher(join(folder, '.backstop'), {
    ...givenStack(),
    BACKSTOP_TEST_TOPIC_PREFIX: `tour-${process.pid}.`,
    RECHECK_DELAY_MS: String(RECHECK_DELAY_MS),
  })
  await launcher.prints(/Backstop runs\..*"Example company" in the console has a week/s, 280_000)
})
afterAll(() => launcher?.stop(), 60_000)

/** The commands of a section, one shell line each, without their comments. */
function commandsOf(page: string, section: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const lines = text.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...lines.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line.replace(/ {2}# .*$/, ''))
}

/** The PATH of a person: without the Node and the programs of this repository, which `npx` finds by itself. */
function pathOfPerson(): string {
  const own = new Set([dirname(process.execPath), join(ROOT, 'node_modules/.bin')])
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter(one => !own.has(resolve(one)))
    .join(delimiter)
}

async function runInShell(script: string) {
  const { BACKSTOP_URL, BACKSTOP_API_KEY, MONGO_URL, ...env } = process.env
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...env, PATH: pathOfPerson(), XDG_CONFIG_HOME: dataFolder('tour-config') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  const exit = await new Promise(done => child.once('close', done))
  return { exit, out, err }
}

test('the tour of docs/cli.md works as it is written, beside the demo with its two projects', async () => {
  const commands = commandsOf('docs/cli.md', 'Ten-minute tour')
  expect(commands.length).toBeGreaterThan(20)
  // -e: the first command that fails ends the tour.
  const { exit, out, err } = await runInShell(`set -e\n${commands.join('\n')}`)
  expect(exit, `${out.slice(-2_000)}\n${err}`).toBe(0)
  expect(out).toMatch(/^prj_\w+ +Example company/m)
  expect(err).toMatch(/^Project "Demo shop" \(prj_\w+\), the demo of npm start/m)
  const [, incident = 'none'] = /incident +(inc_\w+) open: /.exec(out) ?? []
  expect(out).toMatch(new RegExp(`^Incident +${incident}$`, 'm'))
  expect(out).toContain('Nothing explains it')
  expect(out).toMatch(new RegExp(`^${incident} is acknowledged$`, 'm'))
  expect(out).toMatch(new RegExp(`^${incident} is resolved$`, 'm'))
  expect(out).toMatch(/0 events accepted for con_\w+ of prj_\w+; refused: 400 .*signature_rejected/)
  expect(out).toMatch(/^ {2}would not alert {2}act_\w+: refund of EUR 49\.99 on pi_\w+/m)
  expect(out).toMatch(/^bsk_\w+$/m)
  expect(out).toContain('changed, 0 remain')
})

test('the first minutes of the README are lines of the tour', () => {
  const tour = commandsOf('docs/cli.md', 'Ten-minute tour').map(line => line.replace(/ &$/, ''))
  const first = commandsOf('README.md', 'First minutes with the command line')
  expect(first.length).toBeGreaterThan(5)
  expect(first.filter(line => !tour.includes(line))).toEqual([])
})
