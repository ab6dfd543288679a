/**
 * `npm run sbom` writes the software bill of materials of the images (CycloneDX 1.5, JSON) from package-lock.json and the
 * Dockerfile. The same commit gives the same bytes. The output is `--out <file>`, by default .backstop/sbom.cdx.json.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, sbom } from './sbom/deployed.ts'

const { values } = parseArgs({ options: { out: { type: 'string', default: join(ROOT, '.backstop/sbom.cdx.json') } } })
const out = resolve(values.out)
mkdirSync(dirname(out), { recursive: true })
writeFileSync(out, sbom())
process.stdout.write(`${out}\n`)
