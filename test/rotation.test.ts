/** Compares docs/rotation.md with the settings, the commands and the tests. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { z } from 'zod'
import { describeSetting } from '../scripts/configuration-docs/describe-setting.ts'
import { PROGRAMS } from '../scripts/configuration-docs/page.ts'
import { unknownWords } from './setup/command-words.ts'
import { expectTest } from './setup/proof.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const page = read('docs/rotation.md')
const sections = page
  .split(/^## /m)
  .slice(1)
  .map(text => ({ title: text.slice(0, text.indexOf('\n')), text }))

/** Sections also say when to rotate and how long both secrets work, if the head of the page and its table do not. */
const LABELS = ['Steps', 'Is the old one unused?', 'If done wrong', 'Back']

/** The names of tests by the path of their file, for each section. */
const proofs: Record<string, Record<string, readonly string[]>> = parse(read('test/rotation.yaml'))
/** Their secrets belong to systems that are not in this repository. */
const WITHOUT_TEST = ['Certificates of the public hosts', 'Registry of the images']

test('the table lists every section', () => {
  const listed = [...page.matchAll(/^\| \[([^\]]+)\]\(#/gm)].map(([, title]) => title)
  expect(listed.length).toBeGreaterThan(10)
  expect(sections.map(({ title }) => title)).toEqual(listed)
})

test('every secret setting is on the page', () => {
  const settings = Object.values<Readonly<Record<string, z.ZodType>>>(PROGRAMS).flatMap(Object.entries)
  const secrets = settings.filter(([name, schema]) => describeSetting(name, schema).isSecret).map(([name]) => name)
  expect(secrets).toContain('SMTP_URL')
  expect(secrets.filter(name => !page.includes(`\`${name}\``))).toEqual([])
})

test('every command of `backstop` exists, with its options', () => {
  const inText = [...page.matchAll(/`(backstop [a-z][^`]*)`/g)].map(([, line = '']) => line)
  const inBlocks = [...page.matchAll(/^ {4,}(backstop .+)$/gm)].map(([, line = '']) => line)
  expect([inText.length, inBlocks.length]).toEqual([expect.any(Number), 2])
  expect(inText.length).toBeGreaterThan(10)
  expect([...inText, ...inBlocks].flatMap(unknownWords)).toEqual([])
})

describe.each(sections)('$title', ({ title, text }) => {
  test.each(LABELS)('says: %s', label => {
    expect(text).toMatch(new RegExp(`^- \\*\\*${label.replace('?', '\\?')}\\*\\*`, 'm'))
  })

  test('is tested', () => {
    const tests = Object.entries(proofs[title] ?? {})
    expect(tests.length > 0).toBe(!WITHOUT_TEST.includes(title))
    for (const [path, names] of tests) for (const name of names) expectTest(path, name)
  })
})
