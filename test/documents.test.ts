/** Checks that the links and file paths in the documents exist. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const documents = globSync(
  [
    '*.md',
    'docs/**/*.md',
    'deploy/k8s/README.md',
    'deploy/monitoring/README.md',
    'stack/README.md',
    '{packages,services}/*/README.md',
  ],
  { cwd: ROOT },
)

/** Pages that also name files that the reader creates. */
const NAMES_NEW_FILES = ['docs/adding-a-channel.md', 'docs/adding-a-provider.md']

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The anchors of a page as GitHub derives them from its headings. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

function brokenLinks(path: string): string[] {
  const links = [...read(path).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter(link => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : join(dirname(path), file)
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
}

/** The paths in backquotes, from the root of the repository, that do not exist. `<name>` matches any folder or file. */
function missingPaths(path: string): string[] {
  const paths = [...read(path).matchAll(/`((?:bench|deploy|docs|packages|scripts|services|stack|test)\/[^`\s]+)`/g)]
  return paths
    .map(([, named = '']) => named)
    .filter(named => globSync(named.replaceAll(/<[^>]+>/g, '*'), { cwd: ROOT }).length === 0)
}

test('there are documents to check', () => {
  expect(documents.length).toBeGreaterThan(25)
})

/** The words of a page without its code, its commands and the targets of its links. */
function wordsOf(path: string): number {
  const prose = read(path)
    .replaceAll(/```[\s\S]*?```|^ {4,}.*$|`[^`]*`/gm, ' ')
    .replaceAll(/\]\([^)]*\)/g, ' ')
  return prose.match(/[\p{L}\d][\p{L}\d'’.,:%-]*/gu)?.length ?? 0
}

test('the pages that every operator reads have at most 12,000 words', () => {
  const names = ['install', 'troubleshooting', 'doctor', 'backup', 'upgrade', 'sizing', 'runbooks/*']
  const pages = globSync(['deploy/k8s/README.md', ...names.map(name => `docs/${name}.md`)], { cwd: ROOT })
  expect(pages.length).toBeGreaterThan(36)
  expect(pages.reduce((sum, page) => sum + wordsOf(page), 0)).toBeLessThanOrEqual(12_000)
})

test('the promises fit on about three pages', () => {
  expect(wordsOf('docs/guarantees.md')).toBeLessThanOrEqual(2000)
})

describe('the evidence for auditors', () => {
  const lines = read('docs/evidence.md')
    .split('\n')
    .slice(1)
    .filter(line => line !== '' && !line.startsWith('#') && !/^\|-/.test(line))
  /** The cells of a row after the first, which names the question; a line outside of tables is one cell. */
  const cellsOf = (line: string) => (line.startsWith('|') ? line.split('|').slice(2, -1) : [line])
  const statements = lines.filter(line => !/^\| (?:control|question) \|/.test(line))

  test('has at most 900 words', () => {
    expect(wordsOf('docs/evidence.md')).toBeLessThanOrEqual(900)
  })

  test('leads from each statement to a test, a setting, a promise or a page', () => {
    expect(statements.length).toBeGreaterThan(25)
    const withoutProof = statements.flatMap(line => cellsOf(line).filter(cell => !/\]\([^)\s]+\)/.test(cell)))
    expect(withoutProof).toEqual([])
  })

  test('leads from each row to at least one test, setting, promise or page that states the limits', () => {
    const proof = /test\.ts\)|contract\.ts\)|configuration\.md|guarantees(?:-proofs)?\.md|architecture\.md#/
    expect(statements.filter(line => line.startsWith('|') && !proof.test(line))).toEqual([])
  })
})

describe('the map of folders in CONTRIBUTING.md', () => {
  const [, map = ''] = /^## Where things are\n([\s\S]*?)^## /m.exec(read('CONTRIBUTING.md')) ?? []
  const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const sections = new Map(
    map.split(/^### (?=`)/m).flatMap(section => {
      const [, source] = /^`([^`\n]+)`\n/.exec(section) ?? []
      return source === undefined ? [] : [[source, section.replace(/^### [\s\S]*/m, '')] as const]
    }),
  )
  const sources = globSync(['{packages,services}/*/src', 'test', 'deploy'], { cwd: ROOT })

  test('has each source folder, and no other', () => {
    expect([...sections.keys()].sort()).toEqual(sources.sort())
  })

  test.each(sources)('lists each folder of %s, and no other', source => {
    const items = [...(sections.get(source) ?? '').matchAll(/^- ([^:\n]+):/gm)]
    const folders = readdirSync(join(ROOT, source), { withFileTypes: true }).filter(entry => entry.isDirectory())
    expect(items.flatMap(([, names = '']) => namesIn(names)).sort()).toEqual(folders.map(({ name }) => name).sort())
  })

  test.each(sources)('names only files of %s that exist', source => {
    const files = namesIn(sections.get(source) ?? '').filter(name => /^[\w-]+\.tsx?$/.test(name))
    expect(files.filter(name => globSync(`${source}/**/${name}`, { cwd: ROOT }).length === 0)).toEqual([])
  })
})

test('the index lists every page', () => {
  const indexes = read('docs/README.md') + read('README.md')
  const pages = globSync('docs/*.md', { cwd: ROOT }).map(path => basename(path))
  expect(pages.filter(page => page !== 'README.md' && !indexes.includes(`${page})`))).toEqual([])
})

describe.each(documents)('%s', path => {
  test('links only to pages and headings that exist', () => {
    expect(brokenLinks(path)).toEqual([])
  })
})

describe.each(documents.filter(path => !NAMES_NEW_FILES.includes(path)))('%s', path => {
  test('names only files that exist', () => {
    expect(missingPaths(path)).toEqual([])
  })
})
