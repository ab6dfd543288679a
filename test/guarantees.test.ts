/** Checks that the tests named in docs/guarantees.md exist. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const rows = [...read('docs/guarantees.md').matchAll(/^\| (\*\*.+) \| (`.+) \|$/gm)].map(
  ([, promise = '', proofs = '']) => ({
    promise: /\*\*(.+?)\*\*/.exec(promise)?.[1] ?? promise,
    proofs: proofs.split(' · ').map(proof => /^`([^`]+)`: (.+)$/.exec(proof)?.slice(1) ?? [proof, '']),
  }),
)

test('every row of docs/guarantees.md is a promise with its proof', () => {
  const bodies = read('docs/guarantees.md').match(/^\| \*\*.+\|$/gm) ?? []
  expect(rows).toHaveLength(bodies.length)
  expect(rows.length).toBeGreaterThan(10)
})

describe.each(rows)('$promise', ({ proofs }) => {
  test.each(proofs)('is proved in %s', (path = '', name = '') => {
    expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
    expect(name.length).toBeGreaterThan(10)
    expect(read(path), `${path} has a test of this name`).toContain(name)
  })
})
