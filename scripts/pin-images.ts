/**
 * `npm run pin-images`: asks the registry for the digests that the tags of the Dockerfile's base images have now, and writes
 * them into it. Needs docker with buildx, and a way to the registry. Build and test the images before you commit the change.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { baseImagesOf, pinBaseImages } from './images/base-images.ts'

const path = join(resolve(import.meta.dirname, '..'), 'Dockerfile')
const before = readFileSync(path, 'utf8')
const after = pinBaseImages(before, reference =>
  // The digest of the index, so that the same line serves every platform.
  execFileSync('docker', ['buildx', 'imagetools', 'inspect', reference, '--format', '{{.Manifest.Digest}}'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim(),
)
writeFileSync(path, after)
for (const { name, tag, digest } of baseImagesOf(after)) process.stdout.write(`${name}:${tag}  ${digest}\n`)
process.stdout.write(before === after ? 'No digest changed\n' : 'Dockerfile: changed\n')
