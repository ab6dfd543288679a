/** `npm run manifests`: writes the generated files of deploy/k8s, and the names that its settings.env may have. Run it after a change of topics, alert rules or settings. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generatedFiles } from './manifests/generated-files.ts'

const ROOT = resolve(import.meta.dirname, '..')

for (const [path, text] of generatedFiles()) {
  writeFileSync(join(ROOT, path), text)
  process.stdout.write(`${path}\n`)
}
