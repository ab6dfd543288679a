import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readApiDocument } from './api-document.ts'
import { CALLS_PAGE, callsPage } from './calls-page.ts'
import { FILE, generateClientTypes } from './generate.ts'

test('packages/client has the types and calls of the current management API', async () => {
  expect(generateClientTypes(await readApiDocument()), 'run: npm run client-types').toBe(readFileSync(FILE, 'utf8'))
})

test('docs/api-calls.md lists every route with its scope and what it does', async () => {
  expect(await callsPage(), 'run: npm run client-types').toBe(readFileSync(CALLS_PAGE, 'utf8'))
})
