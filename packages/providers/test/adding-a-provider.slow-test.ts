/**
 * Follows steps 1 to 3 of docs/adding-a-provider.md in a copy of the code, with the wallet as the new provider. The type checker
 * must then name the remaining places, and the wallet must pass the suites of every provider.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type CodeCopy, copyTheCode, type PageStep, readPageSteps } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const PAGE = readFileSync(resolve(import.meta.dirname, '../../../docs/adding-a-provider.md'), 'utf8')
const STEPS = readPageSteps(PAGE).filter(step => step.kind === 'diff')

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

test('the page changes only the contracts and the registry', () => {
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
    addWalletFolder(copy)
    for (const entry of LIST_ENTRIES) copy.take(stepFor(entry))
  })
  afterAll(() => copy?.remove())

  test('the type checker names exactly the places that the page lists', { timeout: 180_000 }, () => {
    const { output } = copy.run('typescript/lib/tsc.js', ['-p', '.'])
    const places = [...output.matchAll(/^([\w-]+\/[\w-]+(?:\/(?:src|test))?)\/\S+\(\d+,\d+\): error/gm)]
    const listed = PAGE.slice(PAGE.indexOf('names every other place'), PAGE.indexOf('## 2.'))
    const expected = [...listed.matchAll(/`([\w-]+\/[\w/-]+)`/g)]
    expect(sorted(places), output).toEqual(sorted(expected))
    expect(places).toHaveLength(output.match(/: error TS/g)?.length ?? 0)
  })

  test('the line in the registry makes the suites of every provider run, and they pass', { timeout: 180_000 }, () => {
    const files = ['providers.test.ts', 'read-back.test.ts'].map(name => `packages/providers/src/${name}`)
    const args = ['run', '--project', 'unit', '-t', 'wallet|registry', '--reporter=json', ...files]
    const { status, output } = copy.run('vitest/vitest.mjs', args)
    expect(status, output).toBe(0)
    const report = JSON.parse(output.slice(output.indexOf('{"num'))) as { numPassedTests: number }
    expect(report.numPassedTests).toBeGreaterThan(70)
  })
})

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

function sorted(matches: readonly RegExpMatchArray[]): string[] {
  return [...new Set(matches.map(match => match[1] as string))].sort()
}
