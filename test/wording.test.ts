/** Checks that texts for people use the words of docs/glossary.md and CONTRIBUTING.md. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERROR_CODES } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { readSourceFiles } from './architecture/source-files.ts'

const ROOT = join(import.meta.dirname, '..')

const code = readSourceFiles()
  .filter(({ isProduction, workspace }) => isProduction && /^(?:packages|services)\//.test(workspace))
  .map(({ path, text }) => ({ path, text: text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '') }))

/** Words that make a sentence of a title. A title is a noun phrase. */
const SENTENCE = /\b(?:is|are|was|has|have|may|cannot|does|went|took|there|this|that|something)\b/i

test.each(Object.entries(ERROR_CODES))('the title of %s is a noun phrase', (_, { title }) => {
  expect(title).toMatch(/^[A-Z]\S*(?: \S+){0,3}$/)
  expect(title).not.toMatch(SENTENCE)
})

/** Idioms for which the product has a literal word: "Kafka is unavailable", "deferred", "dead-lettered", "retries ended". */
const IDIOMS =
  /\b(?:(?:is|are) away|put(?:s|ting)? (?:\w+ ){0,2}off|put_off|parked|given[ _]up|at[ _]hand|under[ _]way|got on|is gone|told|anew|mended|left_to)\b/
/** Names of API fields and of stored fields. They may contain an idiom, because they cannot change. */
const NAMES = /\b(?:told_by|parked_at)\b/g

describe('texts of the product use literal words', () => {
  test('names of log events', () => {
    const events = code.flatMap(({ path, text }) =>
      [...text.matchAll(/logger[^;]{0,400}?'([a-z]\w*\.\w+)'/g)].map(([, event = '']) => `${path}: ${event}`),
    )
    expect(events.length).toBeGreaterThan(60)
    expect(events.filter(event => IDIOMS.test(event.replaceAll('_', ' ')) || IDIOMS.test(event))).toEqual([])
  })

  test('sentences', () => {
    const sentences = code.flatMap(({ path, text }) =>
      [...text.matchAll(/'([^'\n]+)'|`([^`]+)`|"([^"\n]+)"/g)].flatMap(([, a, b, c]) => {
        const words = (a ?? b ?? c ?? '').replaceAll(NAMES, '')
        return words.includes(' ') ? [`${path}: ${words}`] : []
      }),
    )
    expect(sentences.length).toBeGreaterThan(600)
    expect(sentences.filter(sentence => IDIOMS.test(sentence))).toEqual([])
  })
})

/** Words of identifiers that have a literal word. Names in snake case are fields of the API and of documents, and cannot change. */
const IDIOMATIC_WORD = /^(?:told|untold|tell|telling|settled|unsettled|gone|away)$/
const IDIOMATIC_NAME = /isSaid|isThere|[uU]nderWay|[aA]tHand|[gG]iv(?:e|en|es)Up|[pP]utOff|[fF]orGood/
/** The state of a promise in JavaScript, the HTTP status 410, and names of stored fields. */
const LITERAL_NAMES = ['allSettled', 'waitUntilSettled', 'Gone', 'driftsTold', 'settledAs']

test('identifiers, also those of tests, use literal words', () => {
  const files = readSourceFiles().filter(({ path }) => path !== 'test/wording.test.ts')
  const identifiers = files.flatMap(({ path, text }) => {
    const codeOnly = text
      .replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '')
      .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
      .replaceAll(/`[^`]*`/g, template => [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, used]) => used).join(' '))
    return [...new Set(codeOnly.match(/\b[A-Za-z]+\b/g))].map(name => ({ path, name }))
  })
  expect(identifiers.length).toBeGreaterThan(50_000)
  const idiomatic = identifiers.filter(
    ({ name }) =>
      !LITERAL_NAMES.includes(name) &&
      (IDIOMATIC_NAME.test(name) || name.split(/(?=[A-Z])/).some(word => IDIOMATIC_WORD.test(word.toLowerCase()))),
  )
  expect(idiomatic.map(({ path, name }) => `${path}: ${name}`)).toEqual([])
})

/** Numbers of rules, and names of documents, that are not in the repository. A reader cannot follow them. */
const REFERENCES = /\bR\d+\.\d+\b|\bguides:/

test('no tracked file refers to a document outside the repository', () => {
  // Pictures are not text (-I): their bytes can look like anything.
  const search = ['grep', '-I', '-l', '-z', '-e', '']
  const tracked = execFileSync('git', search, { cwd: ROOT, encoding: 'utf8' }).split('\0')
  const paths = tracked.filter(path => path !== '')
  expect(paths.length).toBeGreaterThan(500)
  const references = paths.flatMap(path =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => (REFERENCES.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
  expect(references).toEqual([])
})
