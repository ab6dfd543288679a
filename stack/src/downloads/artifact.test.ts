import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { artifactFileName, artifactPath, inspectArtifact } from './artifact.ts'
import { readPinnedArtifacts } from './fetch-artifacts.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-artifact-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const content = 'a jar'
const pin = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }

test.each([
  { name: 'is as pinned', file: content, state: { kind: 'whole' } },
  { name: 'is missing', file: undefined, state: { kind: 'missing' } },
  { name: 'is cut off', file: 'a j', state: { kind: 'broken', reason: '3 bytes instead of 5' } },
  {
    name: 'has the right size and other content',
    file: 'a bar',
    state: { kind: 'broken', reason: expect.stringMatching(/^sha256 \w{64} instead of \w{64}$/) },
  },
])('sees that a file $name', async ({ file, state }) => {
  const path = join(folder, 'a.jar')
  if (file !== undefined) writeFileSync(path, file)
  expect(await inspectArtifact(path, pin)).toEqual(state)
})

test('names a file as a Maven repository does', () => {
  const artifact = {
    group: 'io.apicurio',
    artifact: 'apicurio-registry-app',
    version: '3.3.3',
    packaging: 'tar.gz',
    classifier: 'all',
    ...pin,
  }
  expect(artifactFileName(artifact)).toBe('apicurio-registry-app-3.3.3-all.tar.gz')
  expect(artifactPath({ ...artifact, packaging: 'jar', classifier: '' })).toBe(
    'io/apicurio/apicurio-registry-app/3.3.3/apicurio-registry-app-3.3.3.jar',
  )
})

test('every pinned artifact has a size, a whole sha256 and a file name of its own', () => {
  const { kafka, registry } = readPinnedArtifacts()
  expect(kafka.map(artifactFileName)).toContain('kafka_2.13-4.3.1.jar')
  expect(registry).toHaveLength(1)
  for (const { bytes, sha256 } of [...kafka, ...registry]) {
    expect(bytes).toBeGreaterThan(0)
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  }
  expect(new Set(kafka.map(artifactFileName)).size).toBe(kafka.length)
})

test('Kafka comes with a binding for its log: a broker that dies without one cannot be diagnosed', () => {
  expect(readPinnedArtifacts().kafka.map(({ artifact }) => artifact)).toContain('log4j-slf4j-impl')
})
