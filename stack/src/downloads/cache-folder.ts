import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Where downloads are kept for all clones of one user: BACKSTOP_CACHE, else backstop/ in XDG_CACHE_HOME, else ~/.cache/backstop.
 * @see https://specifications.freedesktop.org/basedir-spec/latest/ (a relative XDG_CACHE_HOME counts as unset)
 */
export function cacheFolder(env: NodeJS.ProcessEnv, home: string = homedir()): string {
  if (env['BACKSTOP_CACHE']) return resolve(env['BACKSTOP_CACHE'])
  const xdg = env['XDG_CACHE_HOME']
  return join(xdg?.startsWith('/') ? xdg : join(home, '.cache'), 'backstop')
}
