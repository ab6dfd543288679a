/**
 * `npm run webhook-docs` writes the schemas and examples of webhook documents to docs/webhooks. Run it after a change of an
 * alert.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, webhookDocs } from './webhook-docs/files.ts'

const files = webhookDocs()
mkdirSync(FOLDER, { recursive: true })
for (const name of readdirSync(FOLDER)) if (!files.has(name)) rmSync(join(FOLDER, name))
for (const [name, content] of files) writeFileSync(join(FOLDER, name), content)
process.stdout.write(`docs/webhooks: ${files.size} files\n`)
