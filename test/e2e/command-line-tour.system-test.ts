/** Runs the tour of docs/cli.md as it is written, in a shell, against the running product. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'
import { dataFolder, openProduct } from '../setup/product.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Long enough for `tail` to connect before the incident opens. */
const RECHECK_DELAY_MS = 15_000

let product: Product
beforeAll(async () => {
  product = await openProduct('tour', { recheckDelayMs: RECHECK_DELAY_MS })
  // npm start has the project of the demo.
  await createManagementApi(product.urls.admin, product.key).post('/v1/projects', { name: 'Demo' })
})
afterAll(() => product?.stop())

/** The commands of the tour, one shell line each. */
function tourCommands(): string[] {
  const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')
  const tour = /^## Ten-minute tour$([\s\S]*?)^## /m.exec(page)?.[1] ?? ''
  return [...tour.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line)
}

async function runInShell(script: string) {
  const child = spawn('bash', ['-c', script], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      XDG_CONFIG_HOME: dataFolder('tour-config'),
      BACKSTOP_URL: product.urls.admin,
      BACKSTOP_API_KEY: product.key,
      MONGO_URL: product.urls.mongo,
      MONGO_DB: product.database,
      RECHECK_DELAY_MS: String(RECHECK_DELAY_MS),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  const exit = await new Promise(done => child.once('close', done))
  return { exit, out, err }
}

test('the tour of docs/cli.md works as it is written', { timeout: 580_000 }, async () => {
  const commands = tourCommands()
  expect(commands.length).toBeGreaterThan(20)
  // -e: the first command that fails ends the tour.
  const { exit, out, err } = await runInShell(`set -e\n${commands.join('\n')}`)
  expect({ exit, err }).toMatchObject({ exit: 0 })
  expect(out).toMatch(/incident +inc_\w+ open: /)
  expect(out).toContain('Nothing explains it')
  expect(out).toMatch(/inc_\w+ is acknowledged\n/)
  expect(out).toMatch(/inc_\w+ is resolved\n/)
  expect(out).toMatch(/0 events accepted for con_\w+ of prj_\w+; refused: 400 .*signature_rejected/)
  expect(out).toMatch(/unexplained \(nothing_explains_it\) → not_alerted \(out_of_band_ignore\)/)
  expect(out).toMatch(/^bsk_\w+$/m)
  expect(out).toContain('changed, 0 remain')
})
