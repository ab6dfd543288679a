/** The compressed sizes of the built console, compared with their budgets. */

/** Vite's manifest, as far as it is used here: the chunks by their source. */
export type Manifest = Record<
  string,
  { file: string; src?: string; isEntry?: boolean; isDynamicEntry?: boolean; imports?: string[] }
>

export interface Sizes {
  /** Bytes of JavaScript that every page needs. */
  readonly initial: number
  /** Bytes of JavaScript that each page needs in addition, largest first. */
  readonly pages: readonly { readonly page: string; readonly bytes: number }[]
  /** One line for each size above its budget. */
  readonly faults: readonly string[]
}

const KB = 1_000
const INITIAL_BUDGET = 200 * KB
const PAGE_BUDGET = 60 * KB

/** @param sizeOf the compressed bytes of a file of the build */
export function measureSizes(manifest: Manifest, sizeOf: (file: string) => number): Sizes {
  const entries = Object.keys(manifest).filter(name => manifest[name]?.isEntry)
  const initialChunks = closureOf(manifest, entries)
  const bytesOf = (chunks: Iterable<string>) =>
    [...chunks].reduce((sum, name) => sum + sizeOf(manifest[name]?.file ?? ''), 0)
  const initial = bytesOf(initialChunks)
  const pages = Object.entries(manifest)
    .filter(([, { isDynamicEntry }]) => isDynamicEntry)
    .map(([name]) => ({
      page: name.replace(/^src\//, ''),
      bytes: bytesOf([...closureOf(manifest, [name])].filter(chunk => !initialChunks.has(chunk))),
    }))
    .sort((one, other) => other.bytes - one.bytes)
  const faults = [
    ...(initial > INITIAL_BUDGET ? [faultOf('The initial JavaScript', initial, INITIAL_BUDGET)] : []),
    ...pages.filter(({ bytes }) => bytes > PAGE_BUDGET).map(({ page, bytes }) => faultOf(page, bytes, PAGE_BUDGET)),
  ]
  return { initial, pages, faults }
}

/** The chunks and everything that they import statically. */
function closureOf(manifest: Manifest, names: readonly string[]): Set<string> {
  const found = new Set<string>()
  const visit = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    for (const imported of manifest[name]?.imports ?? []) visit(imported)
  }
  for (const name of names) visit(name)
  return found
}

function faultOf(what: string, bytes: number, budget: number): string {
  return `${what} has ${kb(bytes)} compressed; the budget is ${kb(budget)}. Import what is large only where it is shown`
}

const kb = (bytes: number) => `${(bytes / KB).toFixed(1)} KB`

export function describeSizes({ initial, pages }: Sizes): string[] {
  const largest = pages.slice(0, 5).map(({ page, bytes }) => `${page} ${kb(bytes)}`)
  return [
    `Initial JavaScript ${kb(initial)} compressed (budget ${kb(INITIAL_BUDGET)})`,
    `Largest pages beyond it (budget ${kb(PAGE_BUDGET)}): ${largest.join(', ')}`,
  ]
}
