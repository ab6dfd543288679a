/**
 * Follows docs/adding-a-provider.md (steps 1 to 3) and docs/adding-a-channel.md in one copy of the code, with the wallet as the
 * new provider and the pager as the new channel. Both share the copy, because type checking it takes most of the time. The type
 * checker must name the remaining places of the wallet and nothing else, and both must pass the suites of their kind.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CodeCopy, copyTheCode, type PageStep, readPageSteps } from './setup/code-copy.ts'

const readPage = (name: string) => readFileSync(resolve(import.meta.dirname, '../docs', name), 'utf8')
const PROVIDER_PAGE = readPage('adding-a-provider.md')
const PROVIDER_STEPS = readPageSteps(PROVIDER_PAGE).filter(step => step.kind === 'diff')
const CHANNEL_STEPS = readPageSteps(readPage('adding-a-channel.md'))

/** The lines that add the wallet to the lists of the tests: each value goes after the first line of its list. */
const LIST_ENTRIES = [
  { file: 'sign.ts', after: 'export const SIGNERS: Record<ProviderKind, TestSigner> = {', value: 'WALLET_SIGNER' },
  {
    file: 'samples/index.ts',
    after: 'export const SAMPLES: Readonly<Record<ProviderKind, ProviderSamples>> = {',
    value: 'WALLET_SAMPLES',
  },
  {
    file: 'read-back/refusals.ts',
    after: 'export const REFUSALS: Readonly<Record<ProviderKind, readonly Refusal[]>> = {',
    value: 'WALLET_REFUSALS',
  },
  {
    file: 'read-back/test-accounts.ts',
    after: 'export const TEST_ACCOUNTS: Readonly<Record<ProviderKind, OpenTestAccount>> = {',
    value: 'openWalletAccount',
  },
]

test('adding a provider changes only the contracts and the registry', () => {
  expect(PROVIDER_STEPS.map(step => step.path)).toEqual([
    'packages/contracts/src/providers.ts',
    'packages/contracts/src/topics.ts',
    'packages/contracts/src/topics.ts',
    'packages/providers/src/registry.ts',
    'packages/providers/src/registry.ts',
  ])
})

test('adding a channel adds new files and lines of lists, nothing else', () => {
  expect(CHANNEL_STEPS.filter(step => step.kind === 'ts').map(step => step.path)).toEqual([
    'packages/channels/src/pager/form.ts',
    'packages/channels/src/pager/message.ts',
    'packages/channels/src/pager/target.ts',
    'packages/channels/src/pager/deliver.ts',
    'packages/channels/src/pager/preview.ts',
    'services/notifier/test/channel-receivers/pager.ts',
  ])
  for (const { code } of CHANNEL_STEPS.filter(step => step.kind === 'diff')) {
    const lines = code.trimEnd().split('\n')
    expect(lines.every(line => /^[ +]/.test(line))).toBe(true)
    expect(lines.filter(line => line.startsWith('+'))).toHaveLength(1)
  }
})

describe('with the wallet and the pager', () => {
  let copy: CodeCopy
  beforeAll(() => {
    copy = copyTheCode()
    for (const step of [...PROVIDER_STEPS, ...CHANNEL_STEPS]) copy.take(step)
    addWalletFolder(copy)
    for (const entry of LIST_ENTRIES) copy.take(stepFor(entry))
    writeFileSync(copy.at('services/admin-api/test/pager.test.ts'), API_TEST)
  })
  afterAll(() => copy?.remove())

  test('the type checker names exactly the places that the page about providers lists', () => {
    const { output } = copy.run('typescript/lib/tsc.js', ['-p', '.', '--checkers', '1', '--incremental', 'false'])
    const errors = output.match(/^\S.*: error TS.*(?:\n .*)*/gm) ?? []
    // The code of the pager is complete, so every error is about the wallet. A switch that lacks it is reported without its name.
    expect(errors.filter(error => !/wallet|TS2366/.test(error))).toEqual([])
    const places = errors.map(error => /^[\w-]+\/[\w-]+(?:\/(?:src|test))?(?=\/)/.exec(error)?.[0] ?? error)
    const listed = PROVIDER_PAGE.slice(PROVIDER_PAGE.indexOf('names every other place'), PROVIDER_PAGE.indexOf('## 2.'))
    const expected = [...listed.matchAll(/`([\w-]+\/[\w/-]+)`/g)].map(([, place]) => place)
    expect([...new Set(places)].sort(), output).toEqual([...new Set(expected)].sort())
  })

  test('each passes the suites of its kind, and the API takes, changes and shows a pager', () => {
    const files = [
      'packages/providers/src/providers.test.ts',
      'packages/providers/src/read-back.test.ts',
      'services/notifier/test/channels.test.ts',
      'services/admin-api/test/pager.test.ts',
    ]
    const only = ['-t', 'wallet|registry|pager|every kind']
    const { status, output } = copy.run('vitest/vitest.mjs', [
      ...['run', '--project', 'unit', '--maxWorkers=1', '--reporter=json', ...only, ...files],
    ])
    expect(status, output).toBe(0)
    const report = JSON.parse(output.slice(output.indexOf('{"num'))) as Report
    const passed = (path: string) =>
      report.testResults
        .filter(({ name }) => name.includes(path))
        .flatMap(({ assertionResults }) => assertionResults.filter(result => result.status === 'passed')).length
    expect(passed('packages/providers')).toBeGreaterThan(70)
    expect(passed('services/')).toBeGreaterThan(20)
    expect(passed('pager.test.ts')).toBe(1)
  })
})

/** The fields of vitest's JSON report that the test reads. */
interface Report {
  readonly testResults: readonly { readonly name: string; readonly assertionResults: readonly { status: string }[] }[]
}

/** Copies the wallet to the providers. Its kind needs no cast there, because the contracts have it. */
function addWalletFolder(copy: CodeCopy): void {
  const folder = copy.at('packages/providers/src/wallet')
  cpSync(copy.at('packages/providers/test/fourth-provider'), folder, { recursive: true })
  for (const name of readdirSync(folder).filter(name => name.endsWith('.ts'))) {
    const code = readFileSync(join(folder, name), 'utf8')
    writeFileSync(join(folder, name), code.replaceAll("'../../src/", "'../"))
  }
  writeFileSync(join(folder, 'kind.ts'), "export const KIND = 'wallet'\n")
}

function stepFor({ file, after, value }: (typeof LIST_ENTRIES)[number]): PageStep {
  const path = `packages/providers/test/${file}`
  const from = `${file.includes('/') ? '../' : './'}${value === 'openWalletAccount' ? 'wallet-account' : 'wallet'}.ts`
  // The import is placed before the list. The circle of imports does no harm, because the lists are read only when tests run.
  const code = `+import { ${value} } from '${from}'\n+\n ${after}\n+  wallet: ${value},\n`
  return { path, kind: 'diff', code }
}

/** The management API needs only the settings form of a pager. */
const API_TEST = `
  import { afterAll, expect, test } from 'vitest'
  import { startMemoryApi } from './test-api.ts'

  const testApi = await startMemoryApi()
  afterAll(() => testApi.stop())

  test('a pager is made, changed and shown without its key, and refused where it may not lead', async () => {
    const { body: project } = await testApi.api.post('/v1/projects', { name: 'Shop' })
    const channel = (pager_url: string) => ({
      project_id: project.project_id,
      name: 'On call',
      events: ['incident.opened'],
      config: { kind: 'pager', pager_url, pager_key: 'canary-of-pager-key' },
    })
    const made = await testApi.api.post('/v1/alert-channels', channel('https://pager.example.test/v2'))
    expect(made).toMatchObject({ status: 201, body: { config: { kind: 'pager', pager_url: 'https://pager.example.test/v2' } } })
    const path = '/v1/alert-channels/' + made.body.id
    const changed = await testApi.api.patch(path, { config: { pager_key: 'canary-of-another-key' } })
    expect(changed.status).toBe(200)
    expect(changed.body.config.pager_key_fingerprint).not.toBe(made.body.config.pager_key_fingerprint)
    expect(JSON.stringify([made.body, changed.body])).not.toContain('canary')
    expect((await testApi.api.patch(path, { config: { to: ['a@b.test'] } })).status).toBe(400)
    expect((await testApi.api.post('/v1/alert-channels', channel('https://blocked.test/'))).status).toBe(400)
    expect(JSON.stringify((await testApi.api.get('/v1/openapi.json')).body)).toContain('pager_key_fingerprint')
    expect((await testApi.api.delete(path)).status).toBe(204)
  })
`
