/** Checks that the links and file paths in the documents exist. */
import { existsSync, globSync, readFileSync } from 'node:fs'
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
