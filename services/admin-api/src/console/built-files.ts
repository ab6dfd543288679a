import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** A file of the built console. */
export interface BuiltFile {
  readonly type: string
  readonly bytes: Buffer
  /** The same bytes as the build compressed them. A small file has none. */
  readonly compressed: Readonly<Partial<Record<Encoding, Buffer>>>
}
export type Encoding = 'br' | 'gzip'

/** The built console: the page, and every other file by its path in the URL. */
export interface BuiltConsole {
  readonly page: string
  readonly files: ReadonlyMap<string, BuiltFile>
}

const PAGE = 'index.html'
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Creates the reader of the built console. It reads the whole folder into memory, and again after a new build. A request can name only
 * a file that was read, so no path leads out of the folder.
 * @returns undefined if the console is not built
 */
export function createConsoleReader(folder: string): () => Promise<BuiltConsole | undefined> {
  let known: { readonly builtAtMs: number; readonly content: Promise<BuiltConsole> } | undefined
  return async () => {
    const page = await stat(join(folder, PAGE)).catch(() => undefined)
    if (page === undefined) return undefined
    if (known?.builtAtMs !== page.mtimeMs) known = { builtAtMs: page.mtimeMs, content: readBuilt(folder) }
    try {
      return await known.content
    } catch (error) {
      known = undefined
      throw error
    }
  }
}

async function readBuilt(folder: string): Promise<BuiltConsole> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const contents = new Map(await Promise.all(paths.map(async path => [path, await readFile(path)] as const)))
  const files = new Map<string, BuiltFile>()
  for (const [path, bytes] of contents) {
    const type = TYPES[extname(path)]
    if (type === undefined) continue
    const [br, gzip] = [contents.get(`${path}.br`), contents.get(`${path}.gz`)]
    const url = path.slice(folder.length).replaceAll('\\', '/').replace(/^\/?/, '/')
    files.set(url, { type, bytes, compressed: { ...(br && { br }), ...(gzip && { gzip }) } })
  }
  return { page: String(contents.get(join(folder, PAGE))), files }
}
