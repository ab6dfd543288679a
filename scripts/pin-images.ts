/**
 * `npm run pin-images`: reads the current digests of the images of others from their registries and writes them into the Dockerfile
 * and docker-compose.yml. Requires docker with buildx and access to the registry. Build and test the images before you commit the
 * change, and copy the digests to deploy/k8s/overlays/local.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { baseImagesOf, pinBaseImages } from './images/base-images.ts'

const ROOT = resolve(import.meta.dirname, '..')

// The digest of the multi-platform index, so that the same line works for every platform.
const digestOf = (reference: string) =>
  execFileSync('docker', ['buildx', 'imagetools', 'inspect', reference, '--format', '{{.Manifest.Digest}}'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()

for (const file of ['Dockerfile', 'docker-compose.yml']) {
  const path = join(ROOT, file)
  const before = readFileSync(path, 'utf8')
  const after = pinBaseImages(before, digestOf)
  writeFileSync(path, after)
  for (const { name, tag, digest } of baseImagesOf(after)) process.stdout.write(`${name}:${tag}  ${digest}\n`)
  process.stdout.write(`${file}: ${before === after ? 'no digest changed' : 'changed'}\n`)
}
