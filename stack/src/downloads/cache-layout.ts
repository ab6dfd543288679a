import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** A download. Each is a folder that is created complete or not at all. */
export type DownloadName = 'java' | 'kafka' | 'registry' | 'mongod'

export interface CacheLayout {
  root: string
  folders: Record<DownloadName, string>
  /** Unfinished downloads. Complete files in it are not fetched again after an interruption. */
  incoming: string
}

/**
 * The folder for downloads, shared by all clones of one user: BACKSTOP_CACHE, else backstop/ in XDG_CACHE_HOME, else
 * ~/.cache/backstop.
 * @see https://specifications.freedesktop.org/basedir-spec/latest/ (a relative XDG_CACHE_HOME counts as unset)
 */
export function cacheFolder(env: NodeJS.ProcessEnv, home: string = homedir()): string {
  if (env.BACKSTOP_CACHE) return resolve(env.BACKSTOP_CACHE)
  const xdg = env.XDG_CACHE_HOME
  return join(xdg?.startsWith('/') ? xdg : join(home, '.cache'), 'backstop')
}

/**
 * The folders of the downloads. Their names contain the kind of machine, because machines may share a home folder, and
 * a hash of the pins, so that an existing folder never has other versions.
 */
export function cacheLayout(env: NodeJS.ProcessEnv): CacheLayout {
  const root = cacheFolder(env)
  const machine = `${process.platform}-${process.arch}`
  return {
    root,
    folders: {
      java: join(root, `java-25.0.2-${machine}-${hashOfPins('java.txt')}`),
      kafka: join(root, `kafka-4.3.1-${hashOfPins('maven.json')}`),
      registry: join(root, `registry-3.3.3-${hashOfPins('maven.json')}`),
      mongod: join(
        root,
        `mongod-6.0.5-${machine}-${hashOfPins('mongod-ubuntu2204.txt', 'mongod-ubuntu2004.txt', 'mongod-other.txt')}`,
      ),
    },
    incoming: join(root, 'incoming'),
  }
}

function hashOfPins(...files: string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(new URL(`./pins/${file}`, import.meta.url)))
  return hash.digest('hex').slice(0, 8)
}
