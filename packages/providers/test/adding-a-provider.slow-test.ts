/**
 * Does the steps 1 to 3 of docs/adding-a-provider.md on a copy of the code, with the wallet for a provider, and looks what is
 * left to do, and whether what is there passes the suites of every provider.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type CodeCopy, copyTheCode, type PageStep, readPageSteps } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const PAGE = readFileSync(resolve(import.meta.dirname, '../../../docs/adding-a-provider.md'), 'utf8')
const STEPS = readPageSteps(PAGE).filter(step => step.kind === 'diff')

/** What the tests of every provider have to be told, in the list after this line of the file. */
const TOLD = [
  { file: 'sign.ts', after: 'export const SIGNERS: Record<ProviderKind, TestSigner> = {', value: 'WALLET_SIGNER' },
  {
    file: 'samples.ts',
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
    after: 'export const WORLDS: Readonly<Record<ProviderKind, OpenWorld>> = {',
    value: 'openWallet',
  },
]

test('the page changes lines of the contracts and of the registry, nothing else', () => {
  expect(STEPS.map(step => step.path)).toEqual([
    'packages/contracts/src/providers.ts',
    'packages/contracts/src/topics.ts',
    'packages/contracts/src/topics.ts',
    'packages/providers/src/registry.ts',
    'packages/providers/src/registry.ts',
  ])
})

describe('with the wallet', () => {
  let copy: CodeCopy
  beforeAll(() => {
    copy = copyTheCode()
    for (const step of STEPS) copy.take(step)
    addTheFolder(copy)
    for (const told of TOLD) copy.take(tell(told))
  })
  afterAll(() => copy?.remove())

  test('the type checker names the places that the page lists, and nothing else', { timeout: 180_000 }, () => {
    const { output } = copy.run('typescript/lib/tsc.js', ['-p', '.'])
    const places = [...output.matchAll(/^([\w-]+\/[\w-]+(?:\/(?:src|test))?)\/\S+\(\d+,\d+\): error/gm)]
    const listed = PAGE.slice(PAGE.indexOf('names every other place'), PAGE.indexOf('## 2.'))
    const expected = [...listed.matchAll(/`([\w-]+\/[\w/-]+)`/g)]
    expect(sorted(places), output).toEqual(sorted(expected))
    expect(places).toHaveLength(output.match(/: error TS/g)?.length ?? 0)
  })

  test('it passes the suites of every provider, by its line in the registry', { timeout: 180_000 }, () => {
    const files = ['providers.test.ts', 'read-back.test.ts'].map(name => `packages/providers/src/${name}`)
    const args = ['run', '--project', 'unit', '-t', 'wallet|registry', '--reporter=json', ...files]
    const { status, output } = copy.run('vitest/vitest.mjs', args)
    expect(status, output).toBe(0)
    const report = JSON.parse(output.slice(output.indexOf('{"num'))) as { numPassedTests: number }
    expect(report.numPassedTests).toBeGreaterThan(70)
  })
})

/** As it stands among the tests, but that its word is one of the contracts now. */
function addTheFolder(copy: CodeCopy): void {
  const folder = copy.at('packages/providers/src/wallet')
  cpSync(copy.at('packages/providers/test/fourth-provider'), folder, { recursive: true })
  for (const name of readdirSync(folder).filter(name => name.endsWith('.ts'))) {
    const code = readFileSync(join(folder, name), 'utf8')
    writeFileSync(join(folder, name), code.replaceAll("'../../src/", "'../"))
  }
  writeFileSync(join(folder, 'kind.ts'), "export const KIND = 'wallet'\n")
}

function tell({ file, after, value }: (typeof TOLD)[number]): PageStep {
  const path = `packages/providers/test/${file}`
  const from = `${file.includes('/') ? '../' : './'}${value === 'openWallet' ? 'wallet-account' : 'wallet'}.ts`
  // An import may stand anywhere, and two modules that import each other are read when a test asks.
  const code = `+import { ${value} } from '${from}'\n+\n ${after}\n+  wallet: ${value},\n`
  return { path, kind: 'diff', code }
}

function sorted(matches: readonly RegExpMatchArray[]): string[] {
  return [...new Set(matches.map(match => match[1] as string))].sort()
}
