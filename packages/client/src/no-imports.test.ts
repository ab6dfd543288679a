import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)

test('the client imports no other package and, for browsers, no module of Node', () => {
  expect(files.length).toBeGreaterThan(5)
  const imported = files.flatMap(name =>
    [...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g)].map(
      ([, of, dynamic]) => `${name}: ${of ?? dynamic}`,
    ),
  )
  const outside = imported.filter(line => !/: \.\.?\//.test(line))
  // The file spool is an entry of its own, for Node only.
  expect(outside.filter(line => !/^file-spool\.ts: node:/.test(line))).toEqual([])
  expect(imported.filter(line => line.includes('/file-spool'))).toEqual([])
})
