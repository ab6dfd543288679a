/**
 * `npm run --silent image-version` prints the tag for the images of this checkout, and with the path of a folder it also writes a
 * kustomize component there, which gives the tag to images, labels and jobs. `BACKSTOP_REVISION` names the commit where there is no git.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { imageTag, revisionOf, versionComponent } from './images/version.ts'

const [folder] = process.argv.slice(2)
const tag = imageTag(process.env.BACKSTOP_REVISION || revisionOf(resolve(import.meta.dirname, '..')))
if (folder !== undefined) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'kustomization.yaml'), versionComponent(tag))
}
process.stdout.write(`${tag}\n`)
