import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mongoRightsOf, type ProgramName } from './rights.ts'

const ROOT = join(import.meta.dirname, '../../..')
const OPENED = /(?:\bcollection(?:<[^()]*>)?\(|createMongoCollection\(db, |\b(?:from|coll): )'(\w+)'/g
const NAMED = /(\w+) = [\w.]*\bcollection(?:<[^()]*>)?\('(\w+)'\)/g
const WRITE = 'insertOne|insertMany|updateOne|updateMany|replaceOne|bulkWrite|deleteOne|deleteMany|findOneAnd\\w+'

function filesOf(folders: readonly string[]): string[] {
  const paths = folders.flatMap(folder => globSync(`${folder}/src/**/*.ts`, { cwd: ROOT }))
  return paths.filter(path => !path.includes('test.ts')).map(path => readFileSync(join(ROOT, path), 'utf8'))
}

/** The collections with this right; empty for all. */
function collectionsWith(program: ProgramName, action: string): Set<string> {
  const rights = mongoRightsOf(program).filter(({ actions }) => actions.includes(action))
  return new Set(rights.map(({ collection }) => collection))
}

const PROGRAMS = [
  { program: 'ingress', folders: ['services/ingress'] },
  { program: 'reconciler', folders: ['services/reconciler', 'packages/ledger'] },
  { program: 'notifier', folders: ['services/notifier'] },
  { program: 'admin-api', folders: ['services/admin-api', 'packages/ledger'] },
] as const

test.each(PROGRAMS)('$program may read each collection that its code opens', ({ program, folders }) => {
  const opened = new Set(filesOf(folders).flatMap(text => [...text.matchAll(OPENED)].map(([, name]) => name ?? '')))
  const readable = collectionsWith(program, 'find')
  expect(opened.size).toBeGreaterThan(0)
  expect([...opened].filter(name => !readable.has(name) && !readable.has(''))).toEqual([])
})

test.each(PROGRAMS)('$program may write each collection that its code writes', ({ program, folders }) => {
  const written = filesOf(folders).flatMap(text =>
    [...text.matchAll(NAMED)].flatMap(([, variable, name = '']) =>
      new RegExp(`\\b${variable}\\.(${WRITE})\\(`).test(text) ? [name] : [],
    ),
  )
  const writable = collectionsWith(program, 'update')
  expect(written.length > 0 || program === 'ingress').toBe(true)
  expect(written.filter(name => !writable.has(name))).toEqual([])
})
