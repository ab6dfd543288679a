import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { describeSizes, type Manifest, measureSizes, type Sizes } from './sizes.ts'

const CONSOLE = resolve(import.meta.dirname, '..')
const DIST = join(CONSOLE, 'dist')
/** Everything that the build reads, from the folder of the console. The versions of the packages are exact. */
const SOURCES = [
  'index.html',
  'package.json',
  'tsconfig.json',
  'vite.config.ts',
  '{src,public,scripts}/**/*.*',
  '../client/src/**/*.ts',
]
const HASH_FILE = 'sources.sha256'
const COMPRESSED_TYPES = new Set(['.js', '.css', '.svg'])
/** Smaller files fit into one packet as they are. */
const SMALLEST_COMPRESSED = 1_024

/** What a build did. */
export type ConsoleBuild = 'built' | 'unchanged'

/**
 * Builds the console, unless its sources are those of the last build. The folder of the build is replaced at once, so a server never
 * sees half of it.
 * @throws Error if a page is larger than its budget
 */
export async function buildConsole(say: (line: string) => void): Promise<ConsoleBuild> {
  const hash = hashSources()
  if (readHash() === hash) return 'unchanged'
  const folder = join(CONSOLE, '.backstop', `dist-${process.pid}`)
  try {
    // Loaded only for a build, because a start without one should not wait for it.
    const { build } = await import('vite')
    const outDir = folder
    await build({ configFile: join(CONSOLE, 'vite.config.ts'), logLevel: 'warn', build: { outDir, emptyOutDir: true } })
    compress(folder)
    const sizes = sizesOf(folder)
    for (const line of describeSizes(sizes)) say(line)
    if (sizes.faults.length > 0) throw new Error(sizes.faults.join('\n'))
    writeFileSync(join(folder, HASH_FILE), hash)
    const old = `${folder}-old`
    mkdirSync(DIST, { recursive: true })
    renameSync(DIST, old)
    renameSync(folder, DIST)
    rmSync(old, { recursive: true })
    return 'built'
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The sizes of the last build. */
export function readConsoleSizes(): Sizes {
  return sizesOf(DIST)
}

function sizesOf(folder: string): Sizes {
  const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Manifest
  return measureSizes(manifest, file => brotli(readFileSync(join(folder, file))).length)
}

function readHash(): string | undefined {
  try {
    return readFileSync(join(DIST, HASH_FILE), 'utf8')
  } catch {
    return undefined
  }
}

function hashSources(): string {
  const hash = createHash('sha256')
  for (const path of globSync(SOURCES, { cwd: CONSOLE }).sort()) {
    if (/[.-]test\.tsx?$/.test(path)) continue
    const content = readFileSync(join(CONSOLE, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** The form in which every browser of today gets the file. */
function brotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })
}

function compress(folder: string): void {
  for (const path of globSync('**/*.*', { cwd: folder })) {
    const bytes = readFileSync(join(folder, path))
    if (!COMPRESSED_TYPES.has(extname(path)) || bytes.length < SMALLEST_COMPRESSED) continue
    writeFileSync(join(folder, `${path}.br`), brotli(bytes))
    writeFileSync(join(folder, `${path}.gz`), gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }))
  }
}
