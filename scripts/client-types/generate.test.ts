import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readApiDocument } from './api-document.ts'
import { FILE, generateClientTypes } from './generate.ts'

test('packages/client has the types and calls of the current management API', async () => {
  expect(generateClientTypes(await readApiDocument()), 'run: npm run client-types').toBe(readFileSync(FILE, 'utf8'))
})
