import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StackError } from '../stack-contract.ts'
import { chooseMongod, javaOfJavaHome, requireDisk, requireMongodRuns, requirePython } from './machine-checks.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-machine-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  { name: 'OpenSSL 3', openssl: ['libssl.so.3'], pin: 'mongod-ubuntu2204' },
  { name: 'OpenSSL 3 beside 1.1', openssl: ['libssl.so.3', 'libssl.so.1.1'], pin: 'mongod-ubuntu2204' },
  { name: 'OpenSSL 1.1', openssl: ['libssl.so.1.1'], pin: 'mongod-ubuntu2004' },
  { name: "OpenSSL 1.0 under Debian's name", openssl: ['libssl.so.1.0.0'], pin: 'mongod-debian9' },
  { name: "OpenSSL 1.0 under Red Hat's name", openssl: ['libssl.so.10'], pin: 'mongod-rhel7' },
])('picks the mongod that is linked to $name', ({ openssl, pin }) => {
  expect(chooseMongod({ platform: 'linux', openssl, hasCurl: true })).toEqual({ kind: 'pin', pin })
})

test('picks the build for other systems on macOS, which brings its own libraries', () => {
  expect(chooseMongod({ platform: 'darwin', openssl: [], hasCurl: true })).toEqual({ kind: 'pin', pin: 'mongod-other' })
})

test.each([
  { name: 'OpenSSL', openssl: [], hasCurl: true, library: 'libssl.so.3' },
  { name: 'libcurl', openssl: ['libssl.so.3'], hasCurl: false, library: 'libcurl.so.4' },
])('says how to install $name when it is missing', ({ openssl, hasCurl, library }) => {
  const choice = chooseMongod({ platform: 'linux', openssl, hasCurl })
  expect(choice).toMatchObject({
    kind: 'missing',
    what: expect.stringContaining(library),
    remedy: expect.stringMatching(/^sudo .*install -y/),
  })
})

test.each([
  { name: 'is 25', release: 'IMPLEMENTOR="x"\nJAVA_VERSION="25.0.2"\n', used: true },
  { name: 'is 21', release: 'JAVA_VERSION="21"\n', used: true },
  { name: 'is 17', release: 'JAVA_VERSION="17.0.9"\n', used: false },
  { name: 'is 8, which calls itself 1.8', release: 'JAVA_VERSION="1.8.0_402"\n', used: false },
  { name: 'does not say what it is', release: '', used: false },
])('a JAVA_HOME that $name is used: $used', ({ release, used }) => {
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'java'), '')
  writeFileSync(join(folder, 'release'), release)
  expect(javaOfJavaHome({ JAVA_HOME: folder })).toBe(used ? join(folder, 'bin', 'java') : undefined)
})

test('a JAVA_HOME without a java in it is not used', () => {
  expect(javaOfJavaHome({ JAVA_HOME: folder })).toBeUndefined()
  expect(javaOfJavaHome({})).toBeUndefined()
})

test('says how much room is missing on which disk', () => {
  expect(() => requireDisk(folder, 1e18)).toThrow(/^The disk of .* has \d+ MB free, and 1000000000000 MB are needed$/)
})

test.each([
  { name: 'is missing', python: undefined, message: 'python3 is missing' },
  { name: 'is too old', python: 'echo 3 9', message: 'python3 is 3.9, and 3.10 or newer is needed' },
  { name: 'has no pip', python: 'case "$1" in -c) echo 3 12;; *) exit 1;; esac', message: 'python3 has no pip' },
])('says so when python3 $name, and what to do', async ({ python, message }) => {
  if (python !== undefined) writeFileSync(join(folder, 'python3'), `#!/bin/sh\n${python}\n`, { mode: 0o755 })
  const failure = await requirePython({ PATH: folder }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StackError)
  expect((failure as StackError).message).toContain(message)
  expect((failure as StackError).remedy).not.toBe('')
})

test('says of a machine that is too busy to answer that it is busy, not that pip is missing', async () => {
  const python = '#!/bin/sh\ncase "$1" in -c) echo 3 12;; *) exec /bin/sleep 60;; esac\n'
  writeFileSync(join(folder, 'python3'), python, { mode: 0o755 })
  const failure = (await requirePython({ PATH: folder }, 2_000).catch((error: unknown) => error)) as StackError
  expect(failure.message).toBe('python3 did not end within 2 s')
  expect(failure.remedy).toBe('Start again when this machine is less busy')
})

test('names the library that mongod misses', async () => {
  const mongod = join(folder, 'mongod')
  const complaint = 'error while loading shared libraries: libcurl.so.4: cannot open shared object file'
  writeFileSync(mongod, `#!/bin/sh\necho "${complaint}" >&2\nexit 127\n`, { mode: 0o755 })
  const failure = (await requireMongodRuns(mongod).catch((error: unknown) => error)) as StackError
  expect(failure.message).toBe('mongod does not run on this machine: libcurl.so.4 is missing')
  expect(failure.remedy).toContain('curl')
})
