/** Checks that each attack of docs/threat-model.md has a test that shows what stops it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { expectTest } from './setup/proof.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const page = read('docs/threat-model.md')
const table = (page.split('\n## Attacks\n')[1] ?? '').split('\n## ')[0] ?? ''
const attacks = [...table.matchAll(/^\| ([^|]+?) \| .+ \|$/gm)]
  .map(([, attack]) => attack)
  .filter(cell => cell !== 'attack')
/** The name of a test by the path of its file, for each attack. */
const proofs: Record<string, Record<string, string>> = parse(read('test/threat-model.yaml'))

test('each attack has a test', () => {
  expect(attacks.length).toBeGreaterThan(20)
  expect(Object.keys(proofs)).toEqual(attacks)
})

test.each(Object.entries(proofs))('what stops it is tested: %s', (_, tests) => {
  expect(tests).not.toEqual({})
  for (const [path, name] of Object.entries(tests)) expectTest(path, name)
})
