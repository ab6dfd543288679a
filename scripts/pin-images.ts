/**
 * `npm run pin-images`: reads the current digests of the Dockerfile's base images from the registry and writes them into the
 * Dockerfile. Requires docker with buildx and access to the registry. Build and test the images before you commit the change.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { baseImagesOf, pinBaseImages } from './images/base-images.ts'

const path = join(resolve(import.meta.dirname, '..'), 'Dockerfile')
const before = readFileSync(path, 'utf8')
const after = pinBaseImages(before, reference =>
  // The digest of the multi-platform index, so that the same line works for every platform.
  execFileSync('docker', ['buildx', 'imagetools', 'inspect', reference, '--format', '{{.Manifest.Digest}}'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim(),
)
writeFileSync(path, after)
for (const { name, tag, digest } of baseImagesOf(after)) process.stdout.write(`${name}:${tag}  ${digest}\n`)
process.stdout.write(before === after ? 'No digest changed\n' : 'Dockerfile: changed\n')
