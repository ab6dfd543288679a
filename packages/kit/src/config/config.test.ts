import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readConfig, setting } from './config.ts'
import { Secret } from './secret.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const shape = {
  URL: setting.url(),
  KEY: setting.secret(),
  PORT: setting.port(8080),
  BROKERS: setting.list().pipe(z.array(z.string()).min(1, 'Give at least one')),
}
const good = { URL: 'http://127.0.0.1', KEY: 'canary-secret', BROKERS: 'a:1, b:2' }

describe('configuration', () => {
  test('is read into a frozen object with its defaults', () => {
    const config = readConfig(shape, good)
    expect(config).toMatchObject({ URL: 'http://127.0.0.1', PORT: 8080, BROKERS: ['a:1', 'b:2'] })
    expect(config.KEY.reveal()).toBe('canary-secret')
    expect(Object.isFrozen(config)).toBe(true)
  })

  test('reports every fault at once, each by the name of its setting', () => {
    const read = () => readConfig(shape, { URL: 'nowhere', PORT: '99999999', BROKERS: '' })
    expect(read).toThrow(
      /4 error\(s\)[\s\S]*URL:[\s\S]*KEY: is required[\s\S]*PORT: Give a whole number from 0 to 65535[\s\S]*BROKERS: is required/,
    )
  })

  test('takes a setting from a mounted file, without the newline that ends the file', () => {
    const path = join(folder, 'key')
    writeFileSync(path, 'from-file\n')
    const { KEY: _inline, ...rest } = good
    expect(readConfig(shape, { ...rest, KEY_FILE: path }).KEY.reveal()).toBe('from-file')
  })

  test('refuses a setting that is given twice, and a file that cannot be read', () => {
    expect(() => readConfig(shape, { ...good, KEY_FILE: '/nowhere' })).toThrow('KEY: set KEY or KEY_FILE, not both')
    const { KEY: _inline, ...rest } = good
    expect(() => readConfig(shape, { ...rest, KEY_FILE: join(folder, 'absent') })).toThrow(
      'KEY_FILE: cannot read the file (ENOENT)',
    )
  })

  test('counts what is set to nothing as not set', () => {
    const path = join(folder, 'other-key')
    writeFileSync(path, 'from-file')
    expect(readConfig(shape, { ...good, KEY: '', KEY_FILE: path, PORT: '' })).toMatchObject({ PORT: 8080 })
    expect(readConfig(shape, { ...good, KEY_FILE: '' }).KEY.reveal()).toBe('canary-secret')
    writeFileSync(path, '\n')
    const { KEY: _inline, ...rest } = good
    expect(() => readConfig(shape, { ...rest, KEY_FILE: path })).toThrow('KEY: is required')
  })

  test.each([' ', 'abc', '0x1f90', '1e3', '8080.5', '-1', '65536'])('refuses "%s" for a port', port => {
    expect(() => readConfig(shape, { ...good, PORT: port })).toThrow('PORT: Give a whole number from 0 to 65535')
  })

  test.each(['localhost:8081', 'ftp://x', '/path', 'registry'])('refuses %s for a URL', url => {
    expect(() => readConfig(shape, { ...good, URL: url })).toThrow('URL: Give a whole URL that begins with http')
  })

  test('never shows a secret in a fault', () => {
    const shouting = { KEY: z.string().refine(() => false, 'Not a key') }
    expect(() => readConfig(shouting, { KEY: 'canary-secret' })).toThrow(/^(?![\s\S]*canary)[\s\S]*KEY: Not a key/)
  })
})

test('a secret turns into text in no way that happens by accident', () => {
  const secret = new Secret('canary-secret')
  const shown = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 5, showHidden: true }),
  ]
  for (const text of shown) expect(text).not.toContain('canary')
  expect(secret.reveal()).toBe('canary-secret')
})
