/**
 * Runs the commands of docs/first-steps.md, and follows "Connect a real account" of the README. The second looks come a minute later, so they
 * see the settings after the last example.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Action, Connection, CreatedConnection } from '@backstop/contracts'
import { startReceiver, until } from '@backstop/kit/test'
import { createCardProcessor } from '@backstop/simulator'
import { choosePorts } from '@backstop/stack'
import { describe, expect, test } from 'vitest'
import { createFactPrinter } from '../../scripts/start/demo/fact-printer.ts'
import { runDemo } from '../../scripts/start/demo/run-demo.ts'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import { openEndpoint } from '../setup/accounts.ts'
import { actionOf, isOpened } from '../setup/customer.ts'
import { dataFolder } from '../setup/product.ts'
import { minuteProduct } from './shared-products.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const RECHECK_DELAY_MS = 60_000
const WITHIN_MS = RECHECK_DELAY_MS + 60_000

/** Runs shell commands in the root folder of the repository, as if a person had pasted them. */
function runInShell(commands: string): Promise<string> {
  const product = minuteProduct.get()
  const child = spawn('bash', ['-c', commands], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      // `npx backstop` finds the address of a running `npm start`, but not of this product.
      BACKSTOP_URL: product.urls.admin,
      BACKSTOP_API_KEY: product.key,
      MONGO_URL: product.urls.mongo,
      MONGO_DB: product.database,
      RECHECK_DELAY_MS: String(RECHECK_DELAY_MS),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  return new Promise(done => child.once('close', () => done(output)))
}

/** The commands of docs/first-steps.md, which read the addresses and keys from the given data folder. */
function pageCommands(dataDir: string): string {
  const page = readFileSync(join(ROOT, 'docs/first-steps.md'), 'utf8')
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = '']) => commands)
  return blocks.join('').replace('DATA=.backstop', `DATA=${dataDir}`)
}

/** The API calls of "Connect a real account" in the README, with values for the placeholders `{id}` and `…`. */
function readmeCalls(): { method: string; path: string; body: string }[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const section = /^## Connect a real account$(.*?)^## /ms.exec(readme)?.[1] ?? ''
  return [...section.matchAll(/^ {4}(POST|PATCH) +(\S+) +(\{.*(?:\n {8,}.*)*)/gm)].map(
    ([, method = '', path = '', body = '']) => ({ method, path, body }),
  )
}

describe.concurrent('the first steps', () => {
  test('the commands of the page, run from top to bottom, alert about the refunds that nobody reported', async () => {
    const product = minuteProduct.get()
    const api = createManagementApi(product.urls.admin, product.key)
    const demo = await runDemo({
      kept: undefined,
      saveRecord: () => {},
      ports: await choosePorts({ receiver: {}, processor: {} }),
      ingressUrl: product.urls.ingress,
      adminUrl: product.urls.admin,
      key: product.key,
      printer: createFactPrinter({ write: () => true }, Date.now),
    })
    try {
      await demo.firstAlert
      const { record, receiver } = demo.setup
      const dataDir = dataFolder('first-steps')
      const { admin, ingress } = product.urls
      writeFileSync(join(dataDir, 'run.json'), JSON.stringify({ admin, ingress, key: product.key }))
      writeFileSync(join(dataDir, 'demo.json'), JSON.stringify(record))
      const output = await runInShell(pageCommands(dataDir))
      const alerted = () =>
        receiver
          .deliveries()
          .filter(isOpened)
          .map(delivery => actionOf(delivery)?.amount)
      await until('the alerts about EUR 5.00 and EUR 3.00', () => alerted().includes(500) && alerted().includes(300), {
        timeoutMs: WITHIN_MS,
        seen: () => ({ alerted: alerted(), output }),
      })
      expect(output).toContain('Nothing explains it')
      const { data } = await api.get<{ data: Action[] }>(`/v1/actions?connection_id=${record.connection_id}`)
      expect(data.find(action => action.amount === 700)).toMatchObject({ verdict: 'explained' })
      expect(alerted()).not.toContain(700)
    } finally {
      await demo.stop()
    }
  })

  test('an account that is connected as the README says alerts about its first unexplained refund', async () => {
    const product = minuteProduct.get()
    const api = createManagementApi(product.urls.admin, product.key)
    const slack = await startReceiver()
    let projectId = ''
    let connection: CreatedConnection | undefined
    for (const { method, path, body } of readmeCalls()) {
      expect(method).toBe('POST')
      const given = body
        .replace('"project_id": …', `"project_id": "${projectId}"`)
        .replace('"webhook_url": …', `"webhook_url": "${slack.url}/hook"`)
      const answer = await api.post<object>(path.replace('{id}', projectId), JSON.parse(given))
      if ('project_id' in answer && projectId === '') projectId = String(answer.project_id)
      if ('signing_secret' in answer) connection = answer as CreatedConnection
    }
    const account = createCardProcessor({ now: Date.now })
    const endpoint = openEndpoint('processor', connection as CreatedConnection)
    endpoint.follow(account)
    try {
      const { charge } = account.createPayment({ amount: 6_000, currency: 'eur' })
      account.refund({ charge: charge.id, amount: 1_500 })
      await until(
        'the Slack message',
        () => slack.requests.some(({ body }) => body.includes('Unexplained refund of EUR 15.00')),
        {
          timeoutMs: WITHIN_MS,
          seen: () => slack.requests.map(({ body }) => body.toString()),
        },
      )
      const stored = await api.get<Connection>(`/v1/projects/${projectId}/connections/${connection?.connection_id}`)
      expect(stored.out_of_band).toBe('alert')
    } finally {
      await Promise.all([endpoint.stop(), slack.stop()])
    }
  })
})
