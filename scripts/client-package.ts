/**
 * `npm run client-package` builds packages/client as customers install it, JavaScript with declarations, and packs it into an archive for
 * `npm install`.
 */
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { buildClientPackage } from './client-package/build.ts'

const PLACE = resolve(import.meta.dirname, '../.backstop')
const folder = join(PLACE, 'client-package')

buildClientPackage(folder)
const archive = execFileSync('npm', ['pack', '--silent', '--pack-destination', PLACE], {
  cwd: folder,
  encoding: 'utf8',
})
process.stdout.write(`${join(PLACE, archive.trim())}\n`)
