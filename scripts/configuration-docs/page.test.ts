import { readFileSync } from 'node:fs'
import { Secret } from '@backstop/kit/config'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SAMPLE_SECRETS } from '../../test/deploy/readers.ts'
import { describeSetting } from './describe-setting.ts'
import { configurationPage, PAGE, PROGRAMS } from './page.ts'

const page = readFileSync(PAGE, 'utf8')

test('docs/configuration.md is the current one', () => {
  expect(page, 'run: npm run configuration-docs').toBe(configurationPage())
})

describe.each(Object.entries<Readonly<Record<string, z.ZodType>>>(PROGRAMS))('the settings of %s', (_, settings) => {
  test.each(Object.entries(settings))('%s is on the page, with its meaning and default', (name, schema) => {
    const { meaning, defaultText, isRequired } = describeSetting(name, schema)
    const rows = page.split('\n').filter(line => line.startsWith(`| \`${name}\` |`))
    const shown = rows.filter(row => row.includes(meaning.split(/[<*|]/)[0] ?? ''))
    expect(shown).not.toEqual([])
    const expected = defaultText === undefined ? (isRequired ? 'required' : '–') : `\`${defaultText}\``
    expect(shown.some(row => row.includes(`| ${expected} |`))).toBe(true)
  })

  test('are secrets if their value cannot be printed', () => {
    for (const [name, schema] of Object.entries(settings)) {
      const value = schema.safeParse(SAMPLE_SECRETS[name] ?? 'http://user:password@host:1').data
      if (!(value instanceof Secret)) continue
      expect(`${name} ${describeSetting(name, schema).isSecret}`).toBe(`${name} true`)
    }
  })
})

describe('a setting', () => {
  test('is described by the metadata of all its layers', () => {
    const schema = z.string().transform(Number).meta({ minimum: 1, maximum: 5 }).default(2).describe('Tries')
    expect(describeSetting('WAIT_MS', schema)).toEqual({
      meaning: 'Tries',
      defaultText: '2',
      isRequired: false,
      isSecret: false,
      unit: 'milliseconds',
      range: { minimum: 1, maximum: 5 },
    })
  })

  test('without a description is refused', () => {
    expect(() => describeSetting('NAME', z.string())).toThrow('NAME has no description')
  })
})
