/** Checks that the tests named in docs/threat-model.md exist. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const page = read('docs/threat-model.md')
const attacks = (page.split('\n## Attacks\n')[1] ?? '').split('\n## ')[0] ?? ''
const rows = [...attacks.matchAll(/^\| (.+?) \| .+ \| (.+) \|$/gm)]
  .map(([, attack = '', proof = '']) => ({ attack, proof }))
  .filter(({ attack }) => attack !== 'attack')

test('there are attacks', () => {
  expect(rows.length).toBeGreaterThan(20)
})

test.each(rows)('what stops it is tested: $attack', ({ proof }) => {
  const [, path = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(proof) ?? []
  expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
  expect(name.length).toBeGreaterThan(10)
  expect(read(path), `${path} has a test of this name`).toContain(name)
})
