/**
 * `npm run client-types` writes the types and the table of calls of packages/client from the OpenAPI document. Run it after a change
 * of the management API.
 */
import { writeFileSync } from 'node:fs'
import { readApiDocument } from './client-types/api-document.ts'
import { FILE, generateClientTypes } from './client-types/generate.ts'

writeFileSync(FILE, generateClientTypes(await readApiDocument()))
process.stdout.write(`${FILE}\n`)
