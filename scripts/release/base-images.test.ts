import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { baseImagesOf, pinBaseImages, unpinnedImagesOf } from './base-images.ts'

const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
const A = `sha256:${'a'.repeat(64)}`
const B = `sha256:${'b'.repeat(64)}`

test('every image that the Dockerfile builds from is pinned by its digest', () => {
  expect(unpinnedImagesOf(dockerfile)).toEqual([])
  expect(baseImagesOf(dockerfile)).toEqual([
    { argument: 'NODE_IMAGE', name: 'node', tag: expect.any(String), digest: expect.stringMatching(/^sha256:/) },
    { argument: 'RUNTIME_IMAGE', name: 'debian', tag: expect.any(String), digest: expect.stringMatching(/^sha256:/) },
  ])
})

describe('an image counts as not pinned', () => {
  test.each([
    { name: 'by a tag alone', text: 'FROM node:24', unpinned: ['node:24'] },
    {
      name: 'by an argument without a digest',
      text: `ARG NODE_IMAGE=node:24\nFROM \${NODE_IMAGE}`,
      unpinned: [`\${NODE_IMAGE}`],
    },
    {
      name: 'by a truncated digest',
      text: `FROM node:24@${A.slice(0, -1)}`,
      unpinned: [`node:24@${A.slice(0, -1)}`],
    },
    {
      name: 'when files are copied from it',
      text: `FROM node:24@${A}\nCOPY --from=debian:12 /a /a`,
      unpinned: ['debian:12'],
    },
  ])('$name', ({ text, unpinned }) => {
    expect(unpinnedImagesOf(text)).toEqual(unpinned)
  })
})

test('needs no digest for a stage that is built from a pinned image', () => {
  const text = `ARG NODE_IMAGE=node:24@${A}\nFROM \${NODE_IMAGE} AS node\nFROM node AS app\nCOPY --from=node /a /a`
  expect(unpinnedImagesOf(text)).toEqual([])
})

test('replaces the digests of all base images and changes nothing else', () => {
  const asked: string[] = []
  const pinned = pinBaseImages(`# x\nARG A_IMAGE=node:24@${A}\nARG B_IMAGE=debian:12\nARG VERSION=1\n`, reference => {
    asked.push(reference)
    return B
  })
  expect(asked).toEqual(['node:24', 'debian:12'])
  expect(pinned).toBe(`# x\nARG A_IMAGE=node:24@${B}\nARG B_IMAGE=debian:12@${B}\nARG VERSION=1\n`)
})

test('pins the images of others in docker-compose.yml, and leaves ours', () => {
  const ours = '    image: backstop-ingress:0.2.0\n'
  const text = (digest: string) => `${ours}    image: \${MONGO_IMAGE:-mongo:8.3.9${digest}}\n`
  expect(pinBaseImages(text(''), () => B)).toBe(text(`@${B}`))
  expect(pinBaseImages(text(`@${A}`), () => B)).toBe(text(`@${B}`))
  expect(baseImagesOf(text(`@${A}`))).toEqual([{ argument: 'MONGO_IMAGE', name: 'mongo', tag: '8.3.9', digest: A }])
})

test('refuses to pin to a text that is not a digest', () => {
  expect(() => pinBaseImages('ARG A_IMAGE=node:24\n', () => 'not found')).toThrow(
    'node:24 has no usable digest: not found',
  )
})
