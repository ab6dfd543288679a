/** The link by which the person at this terminal signs in to the console, and the decision to open it in a browser. */
import { spawn } from 'node:child_process'
import type { ManagementApi } from './management-api.ts'

/**
 * Creates a link that signs in once, within five minutes.
 * @param path the page that opens after the sign-in; the last open project by default
 */
export async function createConsoleLink(api: Pick<ManagementApi, 'post'>, path?: string): Promise<string> {
  const url = new URL((await api.post<{ url: string }>('/v1/sign-in-links', {})).url)
  if (path !== undefined) url.searchParams.set('return_to', path)
  return url.href
}

/** The lines that show a link. */
export function consoleLines(link: string): string[] {
  return [
    `Open the console:  ${link}`,
    '                   The link signs in once, within 5 minutes. For a new one:  npm run console:open',
  ]
}

export interface Terminal {
  readonly isTTY: boolean
  readonly env: NodeJS.ProcessEnv
  readonly platform: NodeJS.Platform
}

/**
 * The program that opens a link in a browser. Undefined if nobody sits at a terminal, in continuous integration, and on a machine
 * without a desktop. BROWSER names a program, or is `none`.
 */
export function browserOf({ isTTY, env, platform }: Terminal): string | undefined {
  if (!isTTY || env.CI || env.BROWSER === 'none') return undefined
  if (env.BROWSER) return env.BROWSER
  if (platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined
}

/** Opens the link. A browser that cannot be started changes nothing, because the link is printed as well. */
export function openInBrowser(program: string, link: string): void {
  const child = spawn(program, [link], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
