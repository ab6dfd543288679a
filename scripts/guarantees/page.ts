/** docs/guarantees-proofs.md: the exact statement of each promise of docs/guarantees.md, with the files of its proofs. */
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const ROOT = resolve(import.meta.dirname, '../..')
export const PROOFS_PAGE = resolve(ROOT, 'docs/guarantees-proofs.md')

/** One statement of a promise. `proofs` has the names of tests by the path of their file. */
const Statement = z.strictObject({
  promise: z.string().regex(/^[a-z0-9-]+$/),
  statement: z.string().min(20),
  proofs: z.record(z.string(), z.array(z.string().min(11)).min(1)),
})
export type Statement = z.infer<typeof Statement>

/** @returns the statements in test/guarantees, in the order of the files' names */
export function readStatements(): readonly Statement[] {
  const files = globSync('test/guarantees/*.yaml', { cwd: ROOT }).sort()
  return files.flatMap(file => z.array(Statement).parse(parse(readFileSync(resolve(ROOT, file), 'utf8'))))
}

/** @returns the headings of docs/guarantees.md and the ids of its promises, in its order */
export function readPromises(): readonly ({ heading: string } | { id: string })[] {
  const page = readFileSync(resolve(ROOT, 'docs/guarantees.md'), 'utf8')
  return [...page.matchAll(/^(## .+)$|\(guarantees-proofs\.md#([a-z0-9-]+)\)/gm)].map(([, heading, id = '']) =>
    heading === undefined ? { id } : { heading },
  )
}

const INTRODUCTION = `# Proofs of the guarantees

For whoever must judge a promise: the exact statement of each promise of [guarantees.md](guarantees.md), with its bounds and conditions, and the files of the tests that prove it. \`test/guarantees\`, from
which \`npm run guarantees\` writes this page, names the tests; \`test/guarantees.test.ts\` fails if one no longer exists.`

/** @returns the text of docs/guarantees-proofs.md */
export function proofsPage(): string {
  const statements = readStatements()
  const parts = readPromises().map(part => ('id' in part ? promiseText(part.id, statements) : part.heading))
  const withPromises = parts.filter((part, index) => part.startsWith('### ') || parts[index + 1]?.startsWith('### '))
  return `${[INTRODUCTION, ...withPromises].join('\n\n')}\n`
}

function promiseText(id: string, statements: readonly Statement[]): string {
  const texts = statements.filter(({ promise }) => promise === id).map(statementText)
  return [`### ${id}`, ...texts].join('\n\n')
}

function statementText({ statement, proofs }: Statement): string {
  const files = Object.keys(proofs).map(file => `\`${file}\``)
  return `${statement.trim()}\n\nProof: ${files.join(', ')}`
}
