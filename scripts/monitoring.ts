/** `npm run monitoring`: writes the generated files of deploy/monitoring. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { generatedFiles } from './monitoring/generated-files.ts'

const ROOT = resolve(import.meta.dirname, '..')

for (const [path, text] of generatedFiles()) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true })
  writeFileSync(join(ROOT, path), text)
  process.stdout.write(`${path}\n`)
}
