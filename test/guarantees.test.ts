/** Checks that each promise of docs/guarantees.md has its proofs, that the named tests exist, and that the page of proofs is current. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROOFS_PAGE, proofsPage, readPromises, readStatements } from '../scripts/guarantees/page.ts'
import { expectTest } from './setup/proof.ts'
import { PROPERTIES } from './simulation/judge/judge.ts'

const ROOT = resolve(import.meta.dirname, '..')
const statements = readStatements()

test('every promise has a proof, and every proof a promise', () => {
  const ids = readPromises().flatMap(part => ('id' in part ? [part.id] : []))
  expect(ids.length).toBeGreaterThan(70)
  expect(ids).toEqual([...new Set(ids)])
  expect([...new Set(statements.map(({ promise }) => promise))].sort()).toEqual([...ids].sort())
})

test('every line below a heading of promises leads to its proof', () => {
  const promises = readFileSync(resolve(ROOT, 'docs/guarantees.md'), 'utf8').split('\n## What is not promised')[0] ?? ''
  const lines = promises.split('\n').filter(line => line.startsWith('- '))
  expect(lines.filter(line => !/^- \[.+\]\(guarantees-proofs\.md#[a-z0-9-]+\)( · simulated: .+)?$/.test(line))).toEqual(
    [],
  )
})

test('beside each promise are the properties by which simulated runs check it', () => {
  const page = readFileSync(resolve(ROOT, 'docs/guarantees.md'), 'utf8')
  const named = [...page.matchAll(/#([a-z0-9-]+)\) · simulated: (.+)$/gm)].flatMap(([, promise, names = '']) =>
    [...names.matchAll(/`([a-z-]+)`/g)].map(([, name]) => `${promise}: ${name}`),
  )
  expect(named.toSorted()).toEqual(PROPERTIES.map(({ name, promise }) => `${promise}: ${name}`).toSorted())
})

test('docs/guarantees-proofs.md is the current one', () => {
  expect(readFileSync(PROOFS_PAGE, 'utf8'), 'run: npm run guarantees').toBe(proofsPage())
})

const proofs = statements.flatMap(({ promise, proofs }) =>
  Object.entries(proofs).flatMap(([path, names]) => names.map(name => ({ promise, path, name }))),
)

describe('each proof is a test', () => {
  test.each(proofs)('$promise: $path: $name', ({ path, name }) => expectTest(path, name))
})
