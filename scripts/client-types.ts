/**
 * `npm run client-types` writes the types and the table of calls of packages/client from the OpenAPI document, and docs/api-calls.md.
 * Run it after a change of the management API.
 */
import { writeFileSync } from 'node:fs'
import { readApiDocument } from './client-types/api-document.ts'
import { CALLS_PAGE, callsPage } from './client-types/calls-page.ts'
import { FILE, generateClientTypes } from './client-types/generate.ts'

writeFileSync(FILE, generateClientTypes(await readApiDocument()))
writeFileSync(CALLS_PAGE, await callsPage())
process.stdout.write(`${FILE}\ndocs/api-calls.md\n`)
