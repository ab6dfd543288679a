/** The sizes that a reader can take in at once: files of a folder, and lines of a function. */
import { dirname } from 'node:path'
import { parseAst } from 'vitest/node'
import type { SourceFile } from './source-files.ts'

const MOST_FILES = 20
const MOST_LINES = 80

/** Folders with too many files of production code. Files of folders in them do not count. */
export function folderFaults(files: readonly SourceFile[]): string[] {
  const folders = Map.groupBy(
    files.filter(({ isProduction }) => isProduction),
    ({ path }) => dirname(path),
  )
  return [...folders].flatMap(([folder, { length }]) =>
    length > MOST_FILES ? [`${folder}: ${length} files; sort them into folders`] : [],
  )
}

/** A node of the syntax tree. Only these fields are read. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly body?: unknown
  readonly id?: { readonly name?: string } | null
  readonly key?: { readonly name?: string } | null
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode)
}

function isFunction({ type, body }: Node): boolean {
  return /Function/.test(type) && body != null
}

/** A table is an object or an array, written out, that contains no function. */
function isTable(node: Node): boolean {
  const hasFunction = (inner: Node): boolean => isFunction(inner) || childrenOf(inner).some(hasFunction)
  return (node.type === 'ObjectExpression' || node.type === 'ArrayExpression') && !hasFunction(node)
}

/** Functions with too many lines. A table in a function counts as one line, however long it is. */
export function functionFaults({ path, text, isProduction }: SourceFile): string[] {
  if (!isProduction || text.split('\n').length <= MOST_LINES) return []
  const linesOf = ({ start, end }: Node) => text.slice(start, end).split('\n').length
  const linesInTables = (node: Node): number =>
    isTable(node) ? linesOf(node) - 1 : childrenOf(node).reduce((sum, inner) => sum + linesInTables(inner), 0)
  const visit = (node: Node, known: string): string[] => {
    const name = node.id?.name ?? node.key?.name ?? known
    const inner = childrenOf(node).flatMap(child => visit(child, name))
    const lines = isFunction(node) ? linesOf(node) - linesInTables(node) : 0
    return lines > MOST_LINES ? [`${path}: ${name} has ${lines} lines; split it`, ...inner] : inner
  }
  return visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as Node, '')
}
